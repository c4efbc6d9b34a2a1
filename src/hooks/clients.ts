import { claude } from './claude.ts';
import type { Client, ClientName } from './client.ts';
import { codex } from './codex.ts';
import { gemini } from './gemini.ts';

export const HOOKED_CLIENTS: Readonly<Record<ClientName, Client>> = { claude, codex, gemini };
