import type { UserSetup } from './adapter.ts';
import { claudeSettings, httpHook, type ClaudeSettings } from './client-hooks.ts';

/** The settings of one run: the hooks, and from the user's own settings how they log in. */
export function claudeSettingsFor(user: UserSetup | undefined): ClaudeSettings {
  const settings = claudeSettings();
  const kept = Object.entries(user?.settings ?? {}).filter(([name]) => LOGIN_SETTINGS.has(name));
  return { ...Object.fromEntries(kept), ...settings, hooks: { ...settings.hooks, PermissionRequest: [PERMISSION] } };
}

/** What runs without a question. Anything else asks: nobody is there, so the question goes to the supervisor. */
export const CLAUDE_TOOLS = ['Bash', 'Edit', 'Write', 'NotebookEdit', 'Read', 'WebFetch', 'WebSearch', 'mcp__baton'];

const LOGIN_SETTINGS = new Set([
  'apiKeyHelper',
  'awsAuthRefresh',
  'awsCredentialExport',
  'env',
  'forceLoginMethod',
  'forceLoginOrgUUID',
  'gcpAuthRefresh',
]);

/** A person may take a day to answer. Without an answer the tool is refused, never run. */
const PERMISSION = { hooks: [{ ...httpHook('permission-request'), timeout: 24 * 60 * 60 }] };
