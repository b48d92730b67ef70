import type { TSchema } from 'typebox';
import type { KubeObject } from '../../shared/api/kubernetes.ts';
import { SWITCHYARD_GROUP, SWITCHYARD_VERSION } from '../../shared/api/names.ts';
import type { Resource } from '../../shared/api/resources.ts';
import type { ValidationRule } from './schema-parts.ts';

/** A Switchyard kind: everything that its CustomResourceDefinition contains. */
export type KindDefinition = KindSchema & { readonly resource: Resource };

/** The schema of a kind, besides its names. The manager does not need it at run time, so it is in files of its own. */
export type KindSchema = {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  /** The fields beside the metadata: spec and status, or, for classes, the fields themselves. A status is a subresource. */
  readonly fields: Readonly<Record<string, TSchema>>;
  /** Required fields. */
  readonly required: readonly string[];
  /** Rules about the object as a whole, its name included; absent: none. */
  readonly rules?: readonly ValidationRule[];
  readonly printerColumns: readonly PrinterColumn[];
};

export type PrinterColumn = {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** 0 or absent: always shown; greater: only with `-o wide`. */
  readonly priority?: number;
};

export const AGE_COLUMN: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** A resource of the group switchyard.dev. */
export const switchyardResource = <T extends KubeObject>(names: {
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}): Resource<T> => ({ group: SWITCHYARD_GROUP, version: SWITCHYARD_VERSION, ...names });

/** The CustomResourceDefinition of a kind, ready to be written as YAML. */
export function customResourceDefinition(kind: KindDefinition): object {
  const { resource } = kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${resource.plural}.${resource.group}` },
    spec: {
      group: resource.group,
      names: {
        kind: resource.kind,
        listKind: `${resource.kind}List`,
        plural: resource.plural,
        singular: kind.singular,
        // An API server stores no empty list, so that each apply of one would show a change.
        ...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : {}),
        categories: ['switchyard'],
      },
      scope: resource.namespaced ? 'Namespaced' : 'Cluster',
      versions: [
        {
          name: resource.version,
          served: true,
          storage: true,
          ...('status' in kind.fields ? { subresources: { status: {} } } : {}),
          additionalPrinterColumns: kind.printerColumns,
          schema: { openAPIV3Schema: objectSchema(kind) },
        },
      ],
    },
  };
}

/** As `kubectl explain` shows it. An API server describes metadata itself, and takes no description of it. */
export function objectSchema(kind: KindDefinition): object {
  const { group, version, kind: name } = kind.resource;
  const descriptions: Readonly<Record<string, string>> = {
    spec: `What is wanted of the ${name}.`,
    status: `What the manager has observed of the ${name}; only the manager writes it.`,
  };
  const fields = Object.entries(kind.fields).map(([field, schema]) => [
    field,
    { ...describedBy(descriptions[field]), ...withProperties(schema) },
  ]);
  return {
    type: 'object',
    description: kind.description,
    properties: {
      apiVersion: { type: 'string', description: `The version of this schema: ${group}/${version}.` },
      kind: { type: 'string', description: `The name of this schema: ${name}.` },
      metadata: { type: 'object' },
      ...Object.fromEntries(fields),
    },
    ...(kind.required.length > 0 ? { required: kind.required } : {}),
    ...(kind.rules === undefined ? {} : { 'x-kubernetes-validations': kind.rules }),
  };
}

const describedBy = (description: string | undefined): object => (description === undefined ? {} : { description });

/** Drops an empty `properties`, as an API server does. */
function withProperties(schema: TSchema): object {
  const { properties, ...rest } = schema as TSchema & { readonly properties?: object };
  return properties === undefined || Object.keys(properties).length > 0 ? schema : rest;
}
