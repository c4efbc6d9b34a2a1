import { openApi } from '../../src/api/openapi/document.ts';

/** Renders docs/reference/openapi.json: one line for each path and schema, so that a change shows as a few lines. */
export function renderOpenApi(): string {
  const { paths, components, ...head } = openApi();
  const { schemas, ...rest } = components;
  return `${[
    JSON.stringify(head).slice(0, -1),
    `,"components":${JSON.stringify(rest).slice(0, -1)}`,
    `,"schemas":{\n${linesOf(schemas)}\n}}`,
    `,"paths":{\n${linesOf(paths)}\n}}`,
  ].join('\n')}\n`;
}

function linesOf(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join(',\n');
}
