/**
 * A mistake in one guard: the first text is replaced by the second. Where another guard hides it, both are replaced
 * (`more`). The simulator must find each mistake of the kernel, and the named test each other one;
 * `scripts/planted-bugs.ts` tries them.
 */
export interface PlantedBug {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly more?: readonly Pick<PlantedBug, 'file' | 'from' | 'to'>[];
  /** The test that fails, for code outside of the kernel. */
  readonly test?: string;
}

const STATE = 'src/state';
const ENGINE = 'src/engine';
const EFFECTS = `${STATE}/runs/evolve-effects.ts`;
const AUTHORS = `${STATE}/workflow/authors.ts`;

export const PLANTED_BUGS: readonly PlantedBug[] = [
  // Numbers.
  bug(
    'two entries of a task have one number',
    `${STATE}/tasks/task-numbers.ts`,
    'tasksAbout(next).map((id) => [id, (taskNumbers.get(id) ?? 0) + 1])',
    'tasksAbout(next).map((id) => [id, taskNumbers.get(id) ?? 1])',
  ),
  // Tasks of sessions.
  bug(
    'sessions make as many tasks as they like',
    `${STATE}/families/propose-task.ts`,
    'family.unasked >= limits.number',
    'family.unasked > limits.number',
  ),
  bug(
    'a task of a session is as urgent as it likes',
    `${STATE}/families/propose-task.ts`,
    'priority: Math.min(given.priority, priority)',
    'priority: given.priority',
  ),
  bug(
    'a task of a session has its own budget',
    `${STATE}/families/task-family.ts`,
    "return { kind: 'task', id: tasks?.get(id)?.origin?.root ?? id };",
    "return { kind: 'task', id: tasks === undefined ? id : id };",
  ),
  {
    ...bug(
      'an agent waits for a withdrawn question about a budget',
      `${ENGINE}/react.ts`,
      '  DecisionWithdrawn: onWithdrawn,\n',
      '',
    ),
    test: 'src/engine/proposals.test.ts',
  },
  // Claims.
  bug(
    'a claimed task is free',
    `${STATE}/tasks/claim-task.ts`,
    'return claim === null && flow.held === null && flow.verdict === undefined && flow.merge === null;',
    'return flow.held === null && flow.verdict === undefined && flow.merge === null;',
  ),
  bug(
    'a held task is free',
    `${STATE}/tasks/claim-task.ts`,
    'return claim === null && flow.held === null && flow.verdict === undefined && flow.merge === null;',
    'return claim === null && flow.merge === null;',
  ),
  bug(
    'a task is free during its merge',
    `${STATE}/tasks/claim-task.ts`,
    'return claim === null && flow.held === null && flow.verdict === undefined && flow.merge === null;',
    'return claim === null && flow.held === null && flow.verdict === undefined;',
  ),
  bug(
    'dependencies do not hold a task',
    `${STATE}/tasks/claim-task.ts`,
    '&& task.after.every((id) => isDone(state, id))',
    '',
  ),
  bug(
    'the epoch does not grow',
    `${STATE}/tasks/claim-task.ts`,
    'const epoch = task.epoch + 1;',
    'const epoch = Math.max(1, task.epoch);',
  ),
  bug(
    'a claim that ends stays live',
    `${STATE}/tasks/claim-task.ts`,
    'return [ended];\n  return [event(',
    'return [];\n  return [event(',
  ),
  bug(
    'an ended session still writes',
    `${STATE}/tasks/late-message.ts`,
    'return ALLOWED_AFTER_END.has(kind) ? decided([], null) : checkOwnClaim(state, caller);',
    'return decided([], null);',
    [
      {
        file: `${STATE}/caller.ts`,
        from: 'if (claim !== null && claim.sessionId === caller.sessionId) return { ok: true, claim };',
        to: 'if (claim !== null) return { ok: true, claim };',
      },
      { file: `${STATE}/caller.ts`, from: 'if (caller.epoch < task.epoch) {', to: 'if (caller.epoch < 0) {' },
    ],
  ),

  // Judgement.
  bug(
    'an author may approve',
    `${STATE}/tasks/judging.ts`,
    'if (!includesPrincipal(task.flow.authors, principal) || ',
    'if (task.id !== "" || ',
  ),
  bug('nobody is an author', AUTHORS, 'return added.length === 0 ? authors :', 'return added.length >= 0 ? authors :'),
  bug('commits that no session made have no author', AUTHORS, 'return recorded.data.sources;', 'return [];'),
  bug(
    "approval of one's own code: what a session commits after its end is not recorded",
    `${STATE}/workflow/branch-moves.ts`,
    "if (isStale || task.phase === 'COMPLETED'",
    "if (!isStale || task.phase === 'COMPLETED'",
  ),
  bug(
    'an approval is valid for every commit',
    `${STATE}/workflow/merge.ts`,
    'if (approval !== null && approval.head !== null && approval.head !== head) {',
    'if (approval !== null && approval.head === "") {',
    [
      {
        file: `${STATE}/workflow/branch-moves.ts`,
        from: 'if (!JUDGED_PHASES.has(phase)) return [];',
        to: 'if (phase !== "DRAFT") return [];',
      },
      {
        file: `${ENGINE}/merge.ts`,
        from: 'if (task.claim !== null || !JUDGED_PHASES.has(task.phase) || !hasUnjudgedHead(task)) return [];',
        to: 'if (task.id !== "") return [];',
      },
      {
        file: `${STATE}/tasks/exit-session.ts`,
        from: 'if (head === undefined || judged === null || head === judged) return { ok: true };',
        to: 'return { ok: true };',
      },
    ],
  ),

  bug(
    'a judge is measured while it works',
    `${ENGINE}/merge.ts`,
    'if (task.claim !== null || !JUDGED_PHASES.has(task.phase) || !hasUnjudgedHead(task)) return [];',
    'if (!JUDGED_PHASES.has(task.phase) || !hasUnjudgedHead(task)) return [];',
  ),
  bug(
    'nobody confirms an approval without proof',
    `${STATE}/tasks/prove-verdict.ts`,
    'if (unproven === undefined) return outcome;',
    'if (unproven === undefined || unproven.because !== "") return outcome;',
  ),
  bug(
    'code of the branch approves in the name of its judge',
    `${STATE}/tasks/prove-verdict.ts`,
    'if (judges.length === 0 || judges.some((agent) => isMatchedBy(agent, caller))) return undefined;',
    'return undefined;',
    [
      {
        file: `${STATE}/tasks/prove-verdict.ts`,
        from: "return caller.kind === 'session' && caller.matched === id && judge?.stream === true;",
        to: "return caller.kind === 'session' && id !== '' && judge?.stream === true;",
      },
    ],
  ),

  // Gates.
  bug(
    'the CI gate is open',
    `${STATE}/tasks/writeback.ts`,
    'if (rules.ciGate && AFTER_CI.has(to) && !AFTER_CI.has(task.phase)) {',
    'if (rules.ciGate && task.id === "") {',
  ),
  bug(
    'the merge gate is open',
    `${STATE}/tasks/writeback.ts`,
    "if (isMerged(task, inForce) && to === 'COMPLETED' && task.phase !== 'COMPLETED') {",
    "if (isMerged(task, inForce) && task.id === '') {",
  ),
  bug(
    'a merge is requested without a record',
    `${STATE}/workflow/merge.ts`,
    'if (writebackRecords(task).length === 0 || head === undefined || branch === undefined) return refuseUnrecorded(task);',
    'if (head === undefined || branch === undefined) return refuseUnrecorded(task);',
    [
      {
        file: 'src/simulator/actors/perform-merge.ts',
        from: 'if (!isRecorded(host, task_id, head))',
        to: 'if (isRecorded(host, task_id, "none"))',
      },
    ],
  ),
  bug(
    'one passed check is enough',
    `${STATE}/workflow/checks.ts`,
    "return plans.every((plan) => all[plan.name] === 'passed')",
    "return plans.some((plan) => all[plan.name] === 'passed')",
  ),
  bug('failed checks pass', `${STATE}/workflow/checks.ts`, "if (outcome === 'failed') return 'failed';", '', [
    {
      file: `${STATE}/workflow/checks.ts`,
      from: "return plans.every((plan) => all[plan.name] === 'passed')",
      to: 'return plans.every((plan) => all[plan.name] !== undefined)',
    },
  ]),
  bug(
    'checks of another commit count',
    `${STATE}/workflow/checks.ts`,
    'if (isOfOtherHead(task, task.flow.checks)) return [];',
    '',
  ),
  bug(
    'work comes to review without checks',
    `${ENGINE}/merge.ts`,
    'if (!isOn && task.flow.mode !== null)',
    'if (task.flow.mode !== null)',
  ),
  bug(
    'merged work is not completed',
    `${STATE}/workflow/merge.ts`,
    "return [...delivered, phaseMovedEvent(task, 'COMPLETED', why, handoff?.next_role ?? null)];",
    'return why === null ? [] : delivered;',
  ),
  bug(
    'checks are not requested',
    `${ENGINE}/merge.ts`,
    "return [event('ChecksRequested', { checks_id: newId(), task_id: task.id, head, checks })];",
    'return head === newId() ? [] : [];',
  ),
  bug(
    'a pull request is not requested',
    `${ENGINE}/merge.ts`,
    'if (!wantsPull(world, task) || pulls === undefined',
    'if (wantsPull(world, task) || pulls === undefined',
  ),

  // Effects.
  bug('a fired timer stays owed', EFFECTS, "case 'TimerFired':\n", "case 'HostDrained':\n      return [];\n"),
  bug('a finished command stays owed', EFFECTS, "case 'CommandFinished':\n", ''),
  bug(
    'a sent notification stays owed',
    EFFECTS,
    "case 'NotificationSent':\n      return [effectKey.notification(data.notification_id)];",
    '',
  ),
  bug(
    'a delivered message stays owed',
    EFFECTS,
    "case 'MessageDelivered':\n      return [effectKey.message(data.message_id)];",
    '',
  ),
  bug(
    'finished checks stay owed',
    EFFECTS,
    'return [effectKey.checks(data.checks_id), effectKey.watch(data.task_id)];',
    'return [effectKey.watch(data.task_id)];',
  ),
  bug(
    'a finished merge stays pending',
    `${STATE}/workflow/evolve-flow.ts`,
    "case 'MergeFinished':",
    "case 'HostDrained' as never:",
  ),
  bug(
    'a started process is started again',
    EFFECTS,
    "case 'AgentStarted':\n      return [effectKey.start(data.agent_id, data.start)];",
    '',
    [
      {
        file: EFFECTS,
        from: 'return [effectKey.start(data.agent_id, data.start), effectKey.kill(data.agent_id), effectKey.stop(data.agent_id)];',
        to: "return [...(type === 'AgentStartFailed' ? [effectKey.start(data.agent_id, data.start)] : []), effectKey.kill(data.agent_id), effectKey.stop(data.agent_id)];",
      },
    ],
  ),
  bug(
    'a timer is cancelled twice',
    `${ENGINE}/react.ts`,
    "if (type !== 'TimerCancelled' && type !== 'CommandCancelled') return true;",
    'if (type !== "") return true;',
  ),
  bug('an agent ends twice', `${ENGINE}/end-agent.ts`, 'if (agent.outcome !== null) return [];', ''),
  bug('a removed host keeps its runs', `${ENGINE}/react.ts`, 'HostRemoved: onHostRemoved,', ''),
  bug(
    'an older caretaker is heard',
    `${STATE}/fleet/caretaker.ts`,
    'return term !== undefined && term < current ?',
    'return term !== undefined && term < 0 ?',
  ),

  // Messages.
  bug(
    'a keyed command is not remembered',
    `${STATE}/state.ts`,
    'state.settled.set(key, answer);',
    'state.settled.delete(key); if (answer === state) state.settled.set(key, answer);',
  ),
  bug(
    'notes do not reach the packet',
    `${STATE}/packet/statements-of.ts`,
    "NoteAdded: (note) => [report('people', 'Note', describeNote(note))],",
    'NoteAdded: (note) => (note.text === "" ? [report("people", "Note", describeNote(note))] : []),',
  ),

  // Decisions.
  bug(
    'nobody is asked about a blocked task',
    `${ENGINE}/blocked.ts`,
    'if (isAskedAbout(world, task.id) || isTriedAgain(world, task)) return [];',
    'if (task.id !== "") return [];',
  ),
  bug(
    'the swallowed question: a block is hidden by any other one',
    `${ENGINE}/blocked.ts`,
    'decision.taskId === taskId && asksAboutWork(decision));',
    "decision.taskId === taskId && decision.result === null && decision.source !== 'reconcile');",
  ),
  bug(
    'the question of a result is swallowed',
    `${ENGINE}/decisions/ask-question.ts`,
    'if (questions.length === 0) return withdrawn;',
    'if (questions.length >= 0) return withdrawn;',
  ),
  bug(
    'a settled decision is answered again',
    `${STATE}/runs/resolve-decision.ts`,
    'if (result !== null) return refuseSettled(decision);',
    '',
    [
      {
        file: `${STATE}/runs/resolve-decision.ts`,
        from: "if (result?.kind === 'resolved' && result.option === option) return",
        to: 'if (result?.kind === "withdrawn" && result.reason === id) return',
      },
    ],
  ),
  bug(
    'an answer stays pending',
    EFFECTS,
    "case 'DecisionAnswerWithdrawn':\n    case 'DecisionResolved':\n    case 'DecisionWithdrawn':\n      return [effectKey.answer(data.decision_id)];",
    '',
  ),
  bug(
    'an answered task stays held',
    `${ENGINE}/decisions/hold-task.ts`,
    "if (action !== 'deny' && action !== 'cancel') return [freed];",
    "if (action !== 'deny' && action !== 'cancel') return [];",
  ),
  bug(
    'the decision of an ended run stays open',
    `${ENGINE}/end-agent.ts`,
    'asked?.result === null && asked.agentId === agent.id',
    'asked?.result === null && asked.agentId === ""',
  ),
  bug(
    'an unblocked task stays held',
    `${ENGINE}/claims.ts`,
    "return isHeld ? [...withdrawn, event('TaskFreed', { task_id: taskId })] : withdrawn;",
    'return isHeld ? withdrawn : withdrawn;',
  ),

  // Work that nobody continues.
  bug(
    'an ended claim finds no next worker',
    `${ENGINE}/react.ts`,
    'return [...followed, ...fillCapacity(',
    "return recorded.type.startsWith('Claim') || recorded.type === 'PhaseMoved' || recorded.type === 'AgentExited' ? followed : [...followed, ...fillCapacity(",
  ),
  bug(
    'a lost run keeps its claim',
    `${ENGINE}/end-agent.ts`,
    'if (agentsOfClaim(state, ref.session_id).length > 0) return [];',
    'if (agentsOfClaim(state, ref.session_id).length >= 0) return [];',
  ),
  bug('an exit signal does not end the run', `${ENGINE}/react.ts`, 'AgentSessionCompleted: onExitSignal,', '', [
    {
      file: `${ENGINE}/claims.ts`,
      from: 'return agentsOfClaim(state, data.session_id).flatMap((agent) => endAgent(world, agent, outcome, reason));',
      to: 'return agentsOfClaim(state, data.session_id).flatMap((agent) => (outcome === "done" ? [] : endAgent(world, agent, outcome, reason)));',
    },
  ]),
  bug(
    'an error of an earlier session is tried again',
    `${ENGINE}/blocked.ts`,
    'if (task === undefined || task.blocked === null || task.epoch !== since) return [];',
    'if (task === undefined || task.blocked === null || since < 0) return [];',
  ),
  bug(
    'a retry for an earlier session hides a block',
    `${ENGINE}/blocked.ts`,
    "each.kind === 'unblock' && each.task_id === id && each.since === epoch",
    "each.kind === 'unblock' && each.task_id === id && epoch > 0",
  ),
  bug('a dead agent is not noticed', `${ENGINE}/react.ts`, 'AgentExited: ofAgent(onExit', 'AgentHeard: ofAgent(onExit'),
  bug('a failed start is not noticed', `${ENGINE}/react.ts`, 'AgentStartFailed:', 'AgentDetached:'),
  bug(
    'a recoverable error is not retried',
    `${ENGINE}/blocked.ts`,
    "return returnFromBlocked(task, { cause: 'retried'",
    'return task.id !== "" ? [] : returnFromBlocked(task, { cause: \'retried\'',
  ),
  bug(
    'hosts do not look for work',
    `${ENGINE}/dispatch.ts`,
    'export function lookForWork(world: EngineContext): readonly Event[] {',
    'export function lookForWork(world: EngineContext): readonly Event[] {\n  if (world.at !== "") return [];',
  ),
  bug(
    'work that was not pushed is in reach',
    `${STATE}/fleet/task-work.ts`,
    'if (here === undefined || task.flow.branch === null) return undefined;',
    'return undefined;',
  ),

  // Budgets.
  bug(
    'a used budget stops nobody',
    `${ENGINE}/budgets.ts`,
    'const all = isSpent(use) ? agentsIn(state, scope) : [];',
    'const all = isSpent(use) ? agentsIn(state, scope).slice(0, 0) : [];',
  ),
  bug(
    'a budget is never used up',
    `${STATE}/runs/budget.ts`,
    'export function isSpent(',
    'export function isSpent(...args: unknown[]): boolean {\n  return args.length === 0;\n}\nfunction isReallySpent(',
  ),

  // The ledger, which the simulator replaces by a list.
  {
    ...bug(
      'a seal does not compare the tree with the signed one',
      'src/ledger/writer/seal.ts',
      'const isSame = head.size === checkpoint.size && sameBytes(frontier.root(), checkpoint.root);',
      'const isSame = head.size === checkpoint.size;',
    ),
    test: 'src/ledger/writer/seal.test.ts',
  },
  {
    ...bug(
      'a copy goes on after another writer was first',
      'src/ledger/replica/copy.ts',
      'if (!appended.ok) {',
      'if (!appended.ok && appended.conflict.size < 0) {',
    ),
    test: 'src/ledger/replica/copy.test.ts',
  },

  // What a host does with entries.
  bug(
    'the engine does not say why',
    `${ENGINE}/kernel.ts`,
    "(event, cause) => record(event, 'system:engine', cause),",
    "(event) => record(event, 'system:engine'),",
  ),
  bug(
    'only the newest rules are loaded',
    `${STATE}/rules.ts`,
    'const found = adopted?.get(sha256);',
    'const [newest] = [...(adopted ?? [])].slice(-1);\n  const found = newest?.[0] === sha256 ? newest[1] : undefined;',
  ),
  bug('a note is refused', `${STATE}/tasks/note-task.ts`, "note.text.trim() === ''", "note.text.trim() !== ''"),
  bug(
    'the host that starts a workflow does not know when',
    `${ENGINE}/kernel.ts`,
    'evolve(state, recorded);',
    "evolve(state, recorded.type === 'WorkflowStarted' ? { ...recorded, at: '' } : recorded);",
  ),

  // The fold.
  bug(
    'a snapshot lacks the sessions',
    `${STATE}/json-form.ts`,
    'for (const [key, value] of pairs) map.set(key, value);',
    "if (name !== 'sessions') for (const [key, value] of pairs) map.set(key, value);",
  ),
  bug(
    'a snapshot lacks the effects',
    `${STATE}/json-form.ts`,
    'for (const [key, value] of pairs) map.set(key, value);',
    "if (name !== 'effects') for (const [key, value] of pairs) map.set(key, value);",
  ),
  bug('a reverted commit stays in memory', `${STATE}/tracked-map.ts`, 'else super.set(key, before.value);', ''),
];

function bug(name: string, file: string, from: string, to: string, more?: PlantedBug['more']): PlantedBug {
  return { name, file, from, to, ...(more === undefined ? {} : { more }) };
}
