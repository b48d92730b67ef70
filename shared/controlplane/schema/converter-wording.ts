import { goTypeName, type MismatchWording } from './conform.ts';

/**
 * The words of runtime.DefaultUnstructuredConverter for a value that its type cannot hold. What is patched strategically
 * or applied goes through it, and not through a JSON decoder.
 */
export const converterWording: MismatchWording = (value, schema) => {
  const given = givenType(value);
  switch (schema.kind) {
    case 'object':
      return `cannot restore struct from: ${given}`;
    case 'list':
      return `cannot restore slice from ${given}`;
    case 'map':
      return `cannot restore map from ${given}`;
    case 'any':
      return `unrecognized type: ${goTypeName(schema)}`;
    case 'scalar': {
      const wanted = goTypeName(schema);
      // Go converts these to each other, JSON does not.
      const isConvertible = (given === 'int64' && wanted === 'string') || (given === 'float64' && wanted.startsWith('int'));
      return isConvertible ? `cannot convert ${given} to ${wanted}` : `unrecognized type: ${wanted}`;
    }
  }
};

function givenType(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'map';
}
