import type { Operation } from '../operations/operation.ts';
import { groupOf } from '../operations/registry.ts';
import { inputName, resultName } from './schemas.ts';
import { answered, header, json, refusals } from './shared.ts';

/** The path of one operation in the OpenAPI document. */
export function pathOf(operation: Operation) {
  const { name, about, access, kind, scope } = operation;
  return {
    post: {
      operationId: name,
      tags: [groupOf(operation)],
      summary: /^[^]*?[.:;](?=\s|$)/.exec(about)?.[0].slice(0, -1) ?? about,
      description: about,
      'x-baton-callers': access,
      'x-baton-kind': kind,
      parameters: [
        ...(scope === 'state-folder' ? [] : [header('project')]),
        ...(kind === 'write' ? [header('key')] : []),
        header('version'),
      ],
      requestBody: { required: true, content: json({ $ref: `#/components/schemas/${inputName(name)}` }) },
      responses: { 200: answered({ $ref: `#/components/schemas/${resultName(name)}` }), ...refusals() },
    },
  };
}
