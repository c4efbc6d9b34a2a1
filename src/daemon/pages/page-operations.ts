import * as operations from '../../api/operations/pages.ts';
import { type Answer } from '../../api/answer.ts';
import type { ResultOf } from '../../api/operations/registry.ts';
import type { FolderCall } from '../folder-call.ts';
import { refusal } from '../http/refusals.ts';
import { inputErrorAnswer } from '../operations/call.ts';
import { isFileFault } from './key-file.ts';
import { NOT_FOR_PAGES, NOT_WRITTEN } from './page-refusals.ts';

/** Refuses pages: a page must not open others, because revoking its key would not revoke theirs. */
export async function openPage(call: FolderCall): Promise<Answer<ResultOf<'page_open'>>> {
  const { caller, projectPath, projects, door } = call;
  if (caller.kind === 'operator' && caller.via !== undefined) return NOT_FOR_PAGES;
  const input = operations.pageOpen.parse(call.input);
  if (!input.ok) return inputErrorAnswer(input);
  const found = projectPath === undefined ? undefined : await projects.findByPath(projectPath);
  const path = found?.ok === true ? found.open.project.path : projectPath;
  // Outside of a repository the page shows all projects. A project with an unavailable store is still named.
  const isNone = found?.ok === false && found.error.code === 'no-such-project';
  return { ok: true, result: door.pages.open(isNone ? undefined : path, input.value.editor) };
}

export async function listPageKeys({ door }: FolderCall): Promise<Answer<ResultOf<'page_keys'>>> {
  const keys = door.pages.listKeys().map(({ id: key_id, name, origin, created_at, last_used_at }) => {
    return { key_id, name, origin, created_at, last_used_at };
  });
  return { ok: true, result: { keys } };
}

export async function revokePageKey(call: FolderCall): Promise<Answer<ResultOf<'page_key_revoke'>>> {
  const input = operations.pageKeyRevoke.parse(call.input);
  if (!input.ok) return inputErrorAnswer(input);
  const { name, all = false } = input.value;
  if ((name === undefined) !== all) return NAME_ONE;
  const isMeant = (key: { readonly id: string; readonly name: string }): boolean =>
    all || key.id === name || key.name === name;
  if (!all && !call.door.pages.listKeys().some(isMeant))
    return refusal('no-such-page-key', `no page or editor has the key ${name}`, LIST);
  try {
    const revoked = await call.door.ledgers.revoke(isMeant, reasonOf(call, all), call.caller);
    return { ok: true, result: { revoked: revoked.map(({ id: key_id, name: of }) => ({ key_id, name: of })) } };
  } catch (error) {
    if (!isFileFault(error)) throw error;
    return NOT_WRITTEN;
  }
}

/** An editor revokes its own key when it closes. */
function reasonOf({ caller }: FolderCall, all: boolean): string {
  const isOfKey = caller.kind === 'operator' && caller.via !== undefined;
  return isOfKey && !all ? `revoked by ${caller.via}` : 'revoked by the operator';
}

const LIST = 'See the keys: baton web keys';
const NAME_ONE = refusal('bad-request', 'name a key, or set `all`', LIST);
