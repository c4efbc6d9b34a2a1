import { claudeHooks } from './claude.ts';
import type { HookedClient, ClientName } from './client.ts';
import { codexHooks } from './codex.ts';
import { geminiHooks } from './gemini.ts';

export const HOOKED_CLIENTS: Readonly<Record<ClientName, HookedClient>> = {
  claude: claudeHooks,
  codex: codexHooks,
  gemini: geminiHooks,
};
