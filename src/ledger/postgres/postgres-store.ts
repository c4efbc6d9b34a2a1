import { makePostgresDatabase, type OpenedPostgresStore, type PostgresOptions } from './database.ts';

export interface PostgresStoreOptions extends PostgresOptions {
  /** Which chain: one database keeps any number of them. */
  readonly project: string;
}

/** Opens one project with sessions of its own. Whoever has several in one process shares a `makePostgresDatabase`. */
export async function openPostgresStore({ project, ...options }: PostgresStoreOptions): Promise<OpenedPostgresStore> {
  const database = makePostgresDatabase(options);
  const opened = await database.openProject(project);
  if (!opened.ok) {
    await database.close();
    return opened;
  }
  const close = async (): Promise<void> => {
    await opened.store.close();
    await database.close();
  };
  return { ok: true, store: { ...opened.store, close } };
}
