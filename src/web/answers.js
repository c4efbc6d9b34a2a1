import { NoAnswer, Refused } from './daemon.js';
import { words } from './words.js';

/** A second click of a double click comes within this time. */
const DOUBLE_MS = 700;
/** A click within this time after a button moved under the pointer was meant for another button. */
const MOVED_MS = 400;

/**
 * How people answer decisions: once each. A click while an answer is under way, the second one of a double click, and a click on a button that has
 * just moved there are ignored. If another tab or terminal answered first, its choice is shown.
 */
export function answersTo(daemon, onChange) {
  const underWay = new Set();
  let clickedMs = -Infinity;
  let settling;

  async function answer(decision, option) {
    const nowMs = performance.now();
    if (nowMs - clickedMs < DOUBLE_MS || settling !== undefined || underWay.has(decision.id)) return;
    clickedMs = nowMs;
    underWay.add(decision.id);
    onChange();
    const isSettled = await send(daemon, decision, option);
    // An answered decision stays disabled until it leaves the list.
    if (!isSettled) underWay.delete(decision.id);
    onChange();
  }

  function settled() {
    settling = undefined;
    for (const button of document.querySelectorAll('#needs button[data-settling]')) button.disabled = false;
  }

  return {
    answer,
    isUnderWay: (id) => underWay.has(id),
    /** Disables the buttons for a moment after the list has changed, because a click then may be meant for another button. */
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

/** Returns whether the decision is answered now, by this page or another client. */
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
  'The daemon did not answer, so your choice may or may not be recorded. When it answers again, you can safely choose the same option again.';

function note(text) {
  document.getElementById('note').replaceChildren(words(text));
}
