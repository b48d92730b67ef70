import { createHash } from 'node:crypto';
import { type Answer, jsonAnswer } from '../../request/answer.ts';
import type { Call } from '../../request/call.ts';
import { headerOf } from '../../request/request.ts';
import { builtInKinds } from '../../schema/builtin.ts';
import { kindOf } from '../../schema/decode.ts';
import type { ObjectSchema } from '../../schema/schema.ts';
import type { ServedResource, ServedResources } from '../../resources/served-resources.ts';
import { StatusError } from '../../apimachinery/status-error.ts';
import { encodeSwagger } from './openapi-v2-protobuf.ts';
import { pathsOf } from './openapi-paths.ts';
import { createSchemaWriter, type Json, type RefPrefix, type SchemaWriter } from './openapi-schemas.ts';

/**
 * Answers /openapi/v3 and /openapi/v2 as far as kubectl's apply, explain and patches need them. The documents describe
 * all kinds that the server has a schema for. Undefined: another path.
 */
export function createOpenApi(resources: ServedResources, version: string): (call: Call) => Answer | undefined {
  // Made with the first request, and kept until a CustomResourceDefinition changes what is served.
  let writer: SchemaWriter | undefined;
  let kept = { generation: -1, documents: new Map<string, string>() };
  const document = (name: string, make: (writer: SchemaWriter) => Json): string => {
    if (kept.generation !== resources.generation()) kept = { generation: resources.generation(), documents: new Map() };
    writer ??= createSchemaWriter();
    const text = kept.documents.get(name) ?? JSON.stringify(make(writer));
    kept.documents.set(name, text);
    return text;
  };

  return ({ info, request }) => {
    const path = info.path.replace(/\/$/, '');
    const accept = headerOf(request, 'accept');
    if (path === '/openapi/v3') return indexAnswer(document('', () => ({ paths: indexPaths(resources) })));
    if (path === '/openapi/v2') {
      const text = document('v2', (write) => swagger(resources, write, version));
      return accept.includes(SWAGGER_PROTOBUF_SUFFIX) ? protobufAnswer(text) : documentAnswer(accept, text);
    }
    if (!path.startsWith('/openapi/v3/')) return undefined;
    const name = path.slice('/openapi/v3/'.length);
    const kinds = kindsByPath(resources).get(name);
    if (kinds === undefined && !bareDocuments(resources).includes(name)) return { kind: 'whole', status: 404, headers: {}, body: '' };
    return documentAnswer(
      accept,
      document(name, (write) => (kinds === undefined ? bareDocument(name, version) : openApi(resources, kinds, write, version))),
    );
  };
}

/** Documents that have no kinds: the version, and the lists of groups and versions. */
function bareDocuments(resources: ServedResources): string[] {
  const groups = [...kindsByPath(resources).keys()].map((path) => path.split('/').slice(0, -1).join('/'));
  return [...new Set(['apis', 'version', ...groups])];
}

const indexAnswer = (body: string): Answer => ({
  kind: 'whole',
  status: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
});

/** The media type of gnostic's protobuf, which clients spell in two ways: with a dot or an @ before the version. */
const SWAGGER_PROTOBUF_SUFFIX = 'v1.0+protobuf';
const SWAGGER_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

const protobufAnswer = (text: string): Answer => ({
  kind: 'whole',
  status: 200,
  headers: { 'content-type': SWAGGER_PROTOBUF },
  body: encodeSwagger(JSON.parse(text)),
});

/** Version 3 is had as JSON only. */
function documentAnswer(accept: string, text: string): Answer {
  const types = accept.split(',').map((clause) => clause.split(';')[0]?.trim() ?? '');
  if (accept !== '' && !types.some((type) => ['application/json', 'application/*', '*/*'].includes(type))) {
    throw new StatusError(406, 'NotAcceptable', 'only the following media types are accepted: application/json');
  }
  return jsonAnswer(200, text);
}

/** `api/v1`, `apis/batch/v1`: the kinds of each group and version. */
function kindsByPath(resources: ServedResources): Map<string, ObjectSchema[]> {
  const byPath = new Map<string, ObjectSchema[]>();
  const custom = resources.all().flatMap((resource) => (resource.custom ? [resource.schema] : []));
  for (const kind of [...builtInKinds(), ...custom]) {
    const { group, version } = kindOf(kind);
    if (group === 'meta.k8s.io') continue;
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
    byPath.set(path, [...(byPath.get(path) ?? []), kind]);
  }
  return byPath;
}

function indexPaths(resources: ServedResources): Json {
  const paths: Json = {};
  const byPath = kindsByPath(resources);
  for (const name of [...byPath.keys(), ...bareDocuments(resources)].sort()) {
    const content = (byPath.get(name) ?? []).map((kind) => [kind.type, kind.custom?.openApi]);
    const hash = createHash('sha512')
      .update(JSON.stringify([name, content]))
      .digest('hex')
      .toUpperCase();
    paths[name] = { serverRelativeURL: `/openapi/v3/${name}?hash=${hash}` };
  }
  return paths;
}

const title = (version: string): Json => ({ title: 'Kubernetes', version });

function openApi(resources: ServedResources, kinds: readonly ObjectSchema[], writer: SchemaWriter, version: string): Json {
  const prefix: RefPrefix = '#/components/schemas/';
  const schemas = writer.schemasOf(kinds, prefix);
  const paths = resourcePaths(resources, kinds, writer, prefix);
  return { openapi: '3.0.0', info: title(version), paths, components: { schemas } };
}

const bareDocument = (name: string, version: string): Json => ({
  openapi: '3.0.0',
  info: title(version),
  paths: { [`/${name}/`]: { get: { responses: { '200': { description: 'OK' } } } } },
  components: {},
});

function swagger(resources: ServedResources, writer: SchemaWriter, version: string): Json {
  const prefix: RefPrefix = '#/definitions/';
  const kinds = [...kindsByPath(resources).values()].flat();
  return {
    swagger: '2.0',
    info: title(version),
    paths: resourcePaths(resources, kinds, writer, prefix),
    definitions: writer.schemasOf(kinds, prefix),
  };
}

function resourcePaths(resources: ServedResources, kinds: readonly ObjectSchema[], writer: SchemaWriter, prefix: RefPrefix): Json {
  const paths: Json = {};
  for (const kind of kinds) {
    const resource = resourceOf(resources, kind);
    if (resource === undefined) continue;
    const name = prefix + writer.nameOf(kind);
    Object.assign(paths, pathsOf(resource, { $ref: name }, { $ref: `${name}List` }));
  }
  return paths;
}

function resourceOf(resources: ServedResources, schema: ObjectSchema): ServedResource | undefined {
  const { group, version, kind } = kindOf(schema);
  return resources.ofKind(group, version, kind);
}
