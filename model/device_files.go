package model

// Names of the graphs for package model/device in an exported folder. They use the
// same weights as the others. An int8 export has none.
const (
	DeviceEncoderFile = "encoder.device.onnx"
	DeviceDecoderFile = "decoder.device.onnx"
)
