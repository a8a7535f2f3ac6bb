"""Starts llama.cpp's own server, of the package xllamacpp, and runs until it is ended: llama.py MODEL.gguf PORT [KEY]"""

import signal
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path, params.port = sys.argv[1], int(sys.argv[2])
params.model_alias, params.n_parallel, params.n_ctx = {"tiny"}, 2, 4096
params.endpoint_slots, params.api_keys = True, sys.argv[3:]
server = xllamacpp.Server(params)
signal.pause()
