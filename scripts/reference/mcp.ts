import type { Operation } from '../../src/api/operations/operation.ts';
import { toolOperations } from '../../src/mcp/listed-tools.ts';
import type { Shape } from '../../src/protocol/shape/shape.ts';
import { joinSections, renderTable } from './table.ts';

/** Renders docs/reference/mcp.md from the operations that are tools. */
export function renderMcpPage(): string {
  const tools = toolOperations().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return joinSections([HEAD, ...tools.map(renderTool)]);
}

const HEAD = `# MCP tools

This page lists every tool of \`baton mcp\`. [Baton for MCP clients](../mcp.md) shows how to connect, and which tools a
caller sees. [Operations](../operations.md) has the results of the tools. \`npm run pages\` makes this page from the
operations.

An argument with \`?\` may be left out.`;

function renderTool({ name, about, kind, input }: Operation): string {
  const fields = Object.entries<Shape>(input.fields);
  return joinSections([
    `## ${name}`,
    about,
    `${kind === 'write' ? 'Writes' : 'Reads'}. [Result](../operations.md#${name}).`,
    renderTable(
      ['argument', 'meaning'],
      fields.map(([field, shape]) => [`\`${field}${shape.optional === true ? '?' : ''}\``, shape.about ?? '']),
    ),
  ]).trimEnd();
}
