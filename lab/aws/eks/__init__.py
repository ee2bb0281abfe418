"""The components of the package ``eks``: they register the children that the real ones do, so that policies see them.

What they register is taken from pulumi-eks 4.4 (https://github.com/pulumi/pulumi-eks/tree/master/nodejs/eks) and was
compared with a record of its previews.
"""
