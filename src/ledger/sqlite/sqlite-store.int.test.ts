import { itRecordsTheSame } from '../same-commands.cases.ts';
import { describeDurableStore, describeStore, type StorePlace } from '../store.cases.ts';
import { TestFolder } from './sqlite.cases.ts';

describeStore('SQLite', makePlace);
describeDurableStore('SQLite', makePlace);
itRecordsTheSame('SQLite', makePlace, 20);

async function makePlace(): Promise<StorePlace> {
  const folder = new TestFolder();
  return {
    open: async () => folder.openStore('write'),
    remove: async () => folder[Symbol.dispose](),
  };
}
