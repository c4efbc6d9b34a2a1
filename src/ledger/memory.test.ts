import { MemoryStore } from './memory-store.ts';
import { describeStore } from './store.cases.ts';

describeStore('memory', async () => ({
  open: async () => new MemoryStore(),
  remove: async () => {},
}));
