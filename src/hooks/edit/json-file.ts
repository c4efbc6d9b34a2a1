import type { ClientFile, FoundParts } from '../client.ts';
import { isHookCommand, isOwnMcpServer } from '../command-line.ts';
import { addToJson, type JsonTree, removeFromJson } from './edit-json.ts';
import { type JsonNode, memberOf, scanJson, valueOf } from './scan-json.ts';

export interface JsonParts {
  readonly path: string;
  /** Event name → the hook, with every field that the client requires. */
  readonly hooks: Readonly<Record<string, { readonly command: string } & JsonTree>>;
  readonly mcp?: { readonly at: readonly string[]; readonly server: JsonTree };
}

export function jsonFile({ path, hooks, mcp }: JsonParts): ClientFile {
  const isOurs = (at: readonly string[], value: unknown): boolean =>
    isOurHook(at, value) || (isSame(at, mcp?.at) && isOwnMcpServer(value));
  return {
    path,
    format: 'json',
    add: (text) => {
      const scanned = scanJson(text);
      const root = scanned.ok ? scanned.root : undefined;
      const isTaken = mcp !== undefined && root !== undefined && nodeAt(root, mcp.at) !== undefined;
      const groups = Object.entries(hooks).map(([event, hook]) => [event, [{ hooks: [hook] }]] as const);
      const wanted = {
        ...(groups.length === 0 ? {} : { hooks: Object.fromEntries(groups) }),
        ...(mcp === undefined || isTaken ? {} : nested(mcp.at, mcp.server)),
      };
      const added = addToJson(text, wanted);
      const notes = isTaken ? [`${mcp.at.join('.')} already exists and is not changed`] : [];
      return added.ok ? { ...added, notes } : added;
    },
    remove: (text, isMade) => removeFromJson(text, isOurs, isMade),
    find: (text) => findParts(text, { path, hooks, ...(mcp === undefined ? {} : { mcp }) }),
  };
}

/** Reports whether the value is a group that has only Baton's hooks, or a hook of Baton in another group. */
function isOurHook(at: readonly string[], value: unknown): boolean {
  if (at[0] !== 'hooks' || typeof value !== 'object' || value === null) return false;
  if (at.length === 5) return at[3] === 'hooks' && 'command' in value && isHookCommand(value.command);
  if (at.length !== 3 || !('hooks' in value) || !Array.isArray(value.hooks)) return false;
  return (
    value.hooks.length > 0 && value.hooks.every((hook: unknown) => isOurHook(['hooks', '', '*', 'hooks', '*'], hook))
  );
}

function isSame(at: readonly string[], place: readonly string[] | undefined): boolean {
  return place?.length === at.length && place.every((key, n) => key === at[n]);
}

function nodeAt(node: JsonNode, path: readonly string[]): JsonNode | undefined {
  let found: JsonNode | undefined = node;
  for (const key of path) found = memberOf(found, key)?.value;
  return found;
}

function nested(path: readonly string[], value: JsonTree): JsonTree {
  return path.reduceRight<JsonTree>((inner, key) => ({ [key]: inner }), value);
}

function findParts(text: string, { hooks, mcp }: JsonParts): FoundParts {
  const scanned = scanJson(text);
  if (!scanned.ok) return { parts: [], problems: [`line ${scanned.line}, column ${scanned.column}: ${scanned.what}`] };
  if (scanned.root === undefined) return { parts: [], problems: [] };
  const { root } = scanned;
  const parts: string[] = [];
  for (const { key: event, value } of childrenOf(nodeAt(root, ['hooks']))) {
    for (const group of childrenOf(value))
      for (const hook of childrenOf(nodeAt(group.value, ['hooks'])))
        if (isOurHook(['hooks', event, '*', 'hooks', '*'], valueOf(hook.value))) parts.push(event);
  }
  const server = mcp === undefined ? undefined : nodeAt(root, mcp.at);
  if (server !== undefined && isOwnMcpServer(valueOf(server))) parts.push('MCP server');
  const off = Object.keys(hooks).length > 0 ? SWITCHED_OFF.filter(({ at, is }) => valueAt(root, at) === is) : [];
  return { parts, problems: off.map(({ at, is }) => `${at.join('.')} is ${is}: no hook runs`) };
}

const SWITCHED_OFF: readonly { readonly at: readonly string[]; readonly is: boolean }[] = [
  { at: ['disableAllHooks'], is: true },
  { at: ['hooksConfig', 'enabled'], is: false },
];

function childrenOf(node: JsonNode | undefined) {
  return node === undefined || node.kind === 'scalar' ? [] : node.children;
}

function valueAt(root: JsonNode, path: readonly string[]): unknown {
  const node = nodeAt(root, path);
  return node === undefined ? undefined : valueOf(node);
}
