package checkpoint

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nlpodyssey/gopickle/pickle"
	"github.com/nlpodyssey/gopickle/types"
)

// storage is a run of elements in the file, of which tensors are views.
type storage struct {
	dtype    DType
	key      string // its name in the file
	elements int
}

func (s storage) bytes() int64 { return int64(s.elements) * int64(s.dtype.size()) }

// view is torch's pickled tensor: a strided window on a storage.
type view struct {
	storage       storage
	offset        int // of the first element
	shape, stride []int
}

// unpickleStateDict reads the pickle of a state dict at the start of data: the view of each tensor, by name. It reads no storage.
// rest is the data after the pickle.
func unpickleStateDict(data []byte) (views map[string]view, rest []byte, err error) {
	root, rest, err := unpickle(data)
	if err != nil {
		return nil, nil, err
	}
	views, err = collectViews(root)
	return views, rest, err
}

// unpickle reads the pickle at the start of data. The result has only lists, dicts, numbers, strings and the torch names of findClass.
func unpickle(data []byte) (root any, rest []byte, err error) {
	scanned, err := scanPickle(data)
	if err != nil {
		return nil, nil, err
	}
	// Some of the unpickler's accesses are unchecked, and scanPickle cannot prevent their panics, because it does not execute the
	// pickle.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed pickle: %.200v", r)
		}
	}()
	u := pickle.NewUnpickler(bytes.NewReader(scanned))
	u.FindClass = findClass
	u.PersistentLoad = loadStorage
	if root, err = u.Load(); err != nil {
		return nil, nil, fmt.Errorf("malformed pickle: %.200s", err.Error())
	}
	return root, data[len(scanned):], nil
}

// collectViews returns the tensors of a state dict.
func collectViews(root any) (map[string]view, error) {
	views := make(map[string]view)
	add := func(key, value any) error {
		name, ok := key.(string)
		if !ok {
			return fmt.Errorf("state dict has a key that is not a string but a %T", key)
		}
		v, ok := value.(view)
		if !ok {
			return fmt.Errorf("state dict has %.100q, which is not a tensor: save model.state_dict() alone", name)
		}
		if _, taken := views[name]; taken {
			return fmt.Errorf("state dict has tensor %.100q twice", name)
		}
		views[name] = v
		return nil
	}
	switch dict := root.(type) {
	case *types.OrderedDict:
		for e := dict.List.Front(); e != nil; e = e.Next() {
			entry := e.Value.(*types.OrderedDictEntry)
			if err := add(entry.Key, entry.Value); err != nil {
				return nil, err
			}
		}
	case *types.Dict:
		for _, entry := range *dict {
			if err := add(entry.Key, entry.Value); err != nil {
				return nil, err
			}
		}
	default:
		return nil, errors.New("pickle is not a state dict: save model.state_dict()")
	}
	return views, nil
}

// storageClass is a torch storage class, by its element type.
type storageClass DType

// callable is a function that the pickle may call.
type callable func(args []any) (any, error)

// Call makes callable a types.Callable.
func (c callable) Call(args ...any) (any, error) { return c(args) }

// storageTypes are the element types of torch's storage classes. A model must not use tensors of a type that ReadFloat32 does not
// convert.
var storageTypes = map[string]DType{
	"FloatStorage": F32, "HalfStorage": F16, "BFloat16Storage": BF16, "DoubleStorage": "F64", "LongStorage": "I64",
	"IntStorage": "I32", "ShortStorage": "I16", "CharStorage": "I8", "ByteStorage": "U8", "BoolStorage": "BOOL",
}

// findClass resolves the global names of a state dict.
func findClass(module, name string) (any, error) {
	switch dtype, ok := storageTypes[name]; {
	case module == "torch" && ok:
		return storageClass(dtype), nil
	case module == "torch._utils" && name == "_rebuild_tensor_v2":
		return callable(rebuildTensor), nil
	case module == "torch._utils" && name == "_rebuild_parameter":
		return callable(rebuildParameter), nil
	}
	return nil, fmt.Errorf("%.60s.%.60s is not allowed: only a state dict of plain tensors is read", module, name)
}

// loadStorage resolves the pickle's references to storages: ("storage", class, key, device, number of elements), and in the old format
// None, or the part of another storage, which torch has not written since 0.4.
func loadStorage(id any) (any, error) {
	tuple, ok := id.(*types.Tuple)
	if !ok || tuple.Len() != 5 && tuple.Len() != 6 {
		return nil, errors.New("storage reference is not a tuple of 5 or 6")
	}
	if tuple.Len() == 6 && tuple.Get(5) != nil {
		return nil, errors.New("storage reference to a part of another storage: save the model again with a newer torch")
	}
	kind, _ := tuple.Get(0).(string)
	class, okClass := tuple.Get(1).(storageClass)
	key, okKey := tuple.Get(2).(string)
	n, okN := tuple.Get(4).(int)
	if kind != "storage" || !okClass || !okKey || !okN || n < 0 || n > maxElements {
		return nil, errors.New("storage reference is not (\"storage\", class, key, device, elements)")
	}
	return storage{DType(class), key, n}, nil
}

// rebuildTensor implements torch._utils._rebuild_tensor_v2(storage, offset, size, stride, requires_grad, backward_hooks).
func rebuildTensor(args []any) (any, error) {
	if len(args) != 6 {
		return nil, fmt.Errorf("tensor of %d arguments, expected 6", len(args))
	}
	s, okStorage := args[0].(storage)
	offset, okOffset := args[1].(int)
	shape, okShape := integers(args[2])
	stride, okStride := integers(args[3])
	if !okStorage || !okOffset || !okShape || !okStride || len(shape) != len(stride) {
		return nil, errors.New("tensor is not (storage, offset, size, stride, …)")
	}
	return view{s, offset, shape, stride}, nil
}

// rebuildParameter implements torch._utils._rebuild_parameter(tensor, requires_grad, backward_hooks).
func rebuildParameter(args []any) (any, error) {
	if len(args) != 3 {
		return nil, fmt.Errorf("parameter of %d arguments, expected 3", len(args))
	}
	v, ok := args[0].(view)
	if !ok {
		return nil, errors.New("parameter without a tensor")
	}
	return v, nil
}

// integers reads a tuple of integers.
func integers(x any) ([]int, bool) {
	tuple, ok := x.(*types.Tuple)
	if !ok {
		return nil, false
	}
	list := make([]int, tuple.Len())
	for i := range list {
		if list[i], ok = tuple.Get(i).(int); !ok {
			return nil, false
		}
	}
	return list, true
}
