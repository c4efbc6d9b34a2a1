import { VIOLATION_KINDS } from '../../protocol/agent-session-completed.ts';
import { missionShape } from '../../protocol/mission.ts';
import { choice, list, nullable, object, optional, text, whole } from '../../protocol/shape/build-shape.ts';

/** A session or command that could have moved a branch. */
export const suspectSession = object({ id: text, name: text, task_id: nullable(text) });

/** The entries about the session of a task: its start, what it changed and used, and commits that it did not make. */
export const SESSION_EVENTS = {
  /** Written before the agent is started. */
  SessionPrepared: {
    /** The main branch's commit when the task's first session was prepared. */
    main: optional(text),
    agent_id: text,
    task_id: text,
    epoch: whole,
    workspace: text,
    branch: text,
    /** The commit from which the session starts, and against which it is measured. */
    base: text,
    /** Start of an earlier session whose work violated a constraint and is still there: constraints count from here. */
    since: optional(text),
    /** For a judging session: a snapshot of the uncommitted files that it found; null if there were none. */
    uncommitted: optional(nullable(text)),
    /** The uncommitted files that a judging session had left, and that were moved to the state folder. */
    set_aside: optional(list(text)),
    port: nullable(whole),
    mission: missionShape,
  },
  /** The measurement of a session, recorded in the transaction that ends it. */
  SessionMeasured: {
    task_id: text,
    epoch: whole,
    session_id: text,
    base: text,
    head: text,
    /** The commit of main whose content is not the session's; absent if there was none. */
    main: optional(text),
    commits: whole,
    file_count: whole,
    /** The files of the whole work since `since`, if that is earlier than `base`; `max_files` applies to them. */
    whole_file_count: optional(whole),
    files: list(object({ path: text, action: text })),
    new_dependencies: list(text),
    /** The violations in words, for people. */
    violations: list(text),
    /** The kinds of the violations, each once; rules decide by these. `upcast` adds them to entries without. */
    broken: list(choice(VIOLATION_KINDS)),
  },
  /** The task's branch is at a commit that no session was measured at. The sources become authors. */
  BranchMoved: {
    task_id: text,
    branch: text,
    /** The recorded head; null before the first. */
    old: nullable(text),
    new: text,
    /** The commit of main of which the new tree is the automatic merge with the old head; null if it is none. */
    main: nullable(text),
    /** Whose commits they are; `operator:unnamed` if no session could have moved the branch. */
    sources: list(text),
    /** Sessions without a sandbox that ran since the old head was recorded. */
    sessions: list(suspectSession),
  },
  /** Total usage of a session; the newest counts. */
  SessionUsed: {
    agent_id: text,
    conversation_id: nullable(text),
    model: nullable(text),
    input_tokens: whole,
    output_tokens: whole,
    cached_tokens: whole,
    cost_millicents: nullable(whole),
    turns: whole,
    /** Tokens that were used while the agent only waited. */
    waiting_tokens: whole,
    /** Tokens for which neither the client nor the runbook has a price. */
    unpriced_tokens: optional(whole),
    /**
     * An estimate for requests in progress: each counts as much as the largest of the run. Absent if there are none.
     */
    reserved_tokens: optional(whole),
    reserved_millicents: optional(whole),
    /** Present if Baton has measured the tokens at its proxy: all tokens as the client counts them. */
    client_tokens: optional(whole),
  },
};
