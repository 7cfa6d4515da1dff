"""arrayflow"""
