import { NoAnswer, Refused } from './daemon.js';
import { words } from './words.js';

/** The longest double click. */
const DOUBLE_MS = 700;
/** A click on a button that has just moved under the pointer was meant for another one. */
const MOVED_MS = 400;

/**
 * Sends each answer once. Ignores clicks while an answer is being sent, the second click of a double click, and clicks on a button that has
 * just moved. If another client answered first, its choice is shown.
 */
export function answersTo(daemon, onChange) {
  const sending = new Set();
  let clickedMs = -Infinity;
  let settling;

  async function answer(decision, option) {
    const nowMs = performance.now();
    if (nowMs - clickedMs < DOUBLE_MS || settling !== undefined || sending.has(decision.id)) return;
    clickedMs = nowMs;
    sending.add(decision.id);
    onChange();
    const isSettled = await send(daemon, decision, option);
    // A settled decision stays disabled until it leaves the list.
    if (!isSettled) sending.delete(decision.id);
    onChange();
  }

  function settled() {
    settling = undefined;
    for (const button of document.querySelectorAll('#needs button[data-settling]')) button.disabled = false;
  }

  return {
    answer,
    isSending: (id) => sending.has(id),
    /** The buttons may have moved: disables them for `MOVED_MS`. */
    moved: () => {
      for (const button of document.querySelectorAll('#needs button:enabled')) {
        button.disabled = true;
        button.dataset.settling = '';
      }
      clearTimeout(settling);
      settling = setTimeout(settled, MOVED_MS);
    },
  };
}

/** Returns whether the decision is settled, by this page or another client. */
async function send(daemon, { id, title, options }, option) {
  try {
    await daemon.call('decision_resolve', { id, option });
    note(`Answered: ${option} ${options[option - 1].label} (${title})`);
    return true;
  } catch (error) {
    if (error instanceof Refused && (await showFirst(daemon, id, title))) return true;
    note(error instanceof NoAnswer ? UNKNOWN : `Not answered: ${error.message}. ${error.hint ?? ''}`);
    return false;
  }
}

/** Returns whether another client had answered it. */
async function showFirst(daemon, id, title) {
  const { result, options } = await daemon.call('decision_show', { id }).catch(() => ({ result: null }));
  if (result === null) return false;
  const chosen = `${result.option} ${options[result.option - 1]?.label}, by ${result.by} at ${result.at}`;
  note(`Already answered: ${result.kind === 'resolved' ? chosen : result.reason} (${title})`);
  return true;
}

const UNKNOWN =
  'The daemon did not answer, so your choice may or may not be recorded. It is safe to choose the same again once the daemon answers.';

function note(text) {
  document.getElementById('note').replaceChildren(words(text));
}
