import { Type } from 'typebox';
import { AGE_COLUMN, type KindSchema } from '../kind-definition.ts';

export const WORKLOAD_PRIORITY_CLASS_SCHEMA: KindSchema = {
  singular: 'workloadpriorityclass',
  shortNames: ['wpc'],
  description:
    'WorkloadPriorityClass is a priority that Jobs may name, apart from that of their pods. The one called default is that of Jobs that state no priority.',
  fields: {
    value: Type.Integer({ format: 'int32', description: 'Jobs of a higher value go first within their ClusterQueue.' }),
    description: Type.Optional(Type.String({ maxLength: 2048, description: 'When this class should be used.' })),
  },
  required: ['value'],
  printerColumns: [{ name: 'Value', type: 'integer', jsonPath: '.value' }, AGE_COLUMN],
};
