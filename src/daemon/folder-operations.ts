import type { Answer } from '../api/answer.ts';
import type { FolderOperationName, ResultOf } from '../api/operations/registry.ts';
import type { FolderCall } from './folder-call.ts';
import { listProjects } from './operations/reads/projects-list.ts';
import { listPageKeys, openPage, revokePageKey } from './pages/page-operations.ts';

type FolderHandlers = { readonly [N in FolderOperationName]: (call: FolderCall) => Promise<Answer<ResultOf<N>>> };

const HANDLERS: FolderHandlers = {
  projects_list: async ({ projects }) => ({ ok: true, result: { projects: await listProjects(projects) } }),
  page_open: openPage,
  page_keys: listPageKeys,
  page_key_revoke: revokePageKey,
};

/** The operations that concern the whole state folder, by name. */
export const FOLDER_HANDLERS: ReadonlyMap<string, (call: FolderCall) => Promise<Answer>> = new Map(
  Object.entries(HANDLERS),
);
