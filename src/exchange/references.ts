/**
 * The issues that one waits for, by what is written in it: `blocked by #12`, `depends on #3, #4 and #5`, `after #7`, and the items of a task list,
 * `- [ ] #12`, which are parts of it. Code is passed over. Issues of other repositories are not here.
 */
export function findReferences(body: string): string[] {
  const prose = withoutCode(body);
  const numbers = [...prose.matchAll(REFERENCE_PHRASE)].flatMap(([said]) => [...said.matchAll(/#([1-9]\d{0,17})\b/g)]);
  const listed = [...prose.matchAll(LISTED)];
  return [...new Set([...numbers, ...listed].map((match) => match[1] ?? ''))];
}

const REFERENCE_PHRASE =
  /\b(?:blocked by|depends on|depends upon|requires|waits for|after):?\s*#\d+\b(?:\s*(?:,|and|&|,\s*and)\s*#\d+\b)*/gi;
const LISTED = /^[ \t]*[-*+] \[[ xX]\] #([1-9]\d{0,17})\b/gm;

function withoutCode(body: string): string {
  let fence: string | undefined;
  const lines = body.split(/\r\n|\r|\n/).filter((line) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === undefined) {
      fence = mark;
      return mark === undefined;
    }
    if (mark?.startsWith(fence) === true) fence = undefined;
    return false;
  });
  return lines.map((line) => line.replace(/`[^`]*`/g, '')).join('\n');
}
