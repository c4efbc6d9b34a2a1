import type { RunbookSubject } from './subject.ts';
import { checkAgents } from './agents.ts';
import { checkBranch } from './branch-and-webhook.ts';
import { checkBudgets } from './budgets.ts';
import { checkCommands } from './commands.ts';
import { checkHandlers } from './handlers.ts';
import { checkLists } from './lists.ts';
import { checkNesting } from './nesting.ts';
import { checkReferences } from './references.ts';
import { checkRoles } from './roles.ts';
import { checkSteps } from './steps.ts';
import { checkTemplates } from './templates.ts';
import { checkVariables } from './variables.ts';
import { checkWebhook } from './webhook.ts';

/** What a shape cannot say. Each looks at the whole and reports what it finds. */
export const RULES: readonly ((subject: RunbookSubject) => void)[] = [
  checkReferences,
  checkRoles,
  checkAgents,
  checkBudgets,
  checkHandlers,
  checkSteps,
  checkNesting,
  checkVariables,
  checkCommands,
  checkTemplates,
  checkWebhook,
  checkBranch,
  checkLists,
];
