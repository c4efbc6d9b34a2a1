import fc from 'fast-check';
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { samples } from '../../../test/lanes.ts';
import { ONE_TOKEN_WORDS } from './one-token-words.ts';
import { boundTokens, cutStartToTokens, cutToTokens } from './token-bound.ts';

/** Texts may contain the names of special tokens, which count as text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };
const tokenizers = {
  o200k_base: (text: string) => countO200k(text, AS_TEXT),
  cl100k_base: (text: string) => countCl100k(text, AS_TEXT),
};
const realTokens = (text: string): number => Math.max(...Object.values(tokenizers).map((count) => count(text)));

const prose = `It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it was the epoch of
belief, it was the epoch of incredulity, it was the season of Light, it was the season of Darkness, it was the spring of hope, it was the winter
of despair, we had everything before us, we had nothing before us, we were all going direct to Heaven, we were all going direct the other way.`;

const report = `The login form accepts an empty password, because the check runs before the field is trimmed. I moved the check behind the trim and
added a test for it. The first approach, a pattern in the form itself, failed: old browsers ignore it. Two questions are open. Should an
administrator see the same message? And is the limit of eight characters still right? The next step is to update the documentation.`;

const chinese =
  '登录表单接受空密码，因为检查在去除空格之前运行。我把检查移到后面，并为它添加了一个测试。第一种方法失败了：旧浏览器会忽略它。';
const japanese =
  'ログインフォームは空のパスワードを受け付けます。検査が空白の削除より先に実行されるためです。検査を後ろに移し、テストを追加しました。';
const korean =
  '로그인 양식은 빈 암호를 허용합니다. 공백을 제거하기 전에 검사가 실행되기 때문입니다. 검사를 뒤로 옮기고 테스트를 추가했습니다.';

const code = {
  typescript: `export function parseTask(input: unknown): Result<Task, Problem[]> {\n  if (!isRecord(input)) return { ok: false, problems: [notAnObject('$')] };\n  const { task_id: taskId = null, ...rest } = input;\n  return Object.keys(rest).length > 0 ? refuse(\`unknown: \${Object.keys(rest).join(', ')}\`) : { ok: true, value: { taskId } };\n}\n`,
  python: `@dataclass(frozen=True)\nclass Point:\n    x: float = 0.0\n    y: float = 0.0\n\n    def __add__(self, other: "Point") -> "Point":\n        return Point(self.x + other.x, self.y + other.y)\n\nif __name__ == "__main__":\n    print(sum([Point(1, 2), Point(3, 4)], start=Point()))\n`,
  diff: `diff --git a/src/cart.py b/src/cart.py\nindex 83db48f..bf269f4 100644\n--- a/src/cart.py\n+++ b/src/cart.py\n@@ -12,7 +12,7 @@ def total(items):\n-    return sum(i.price for i in items)\n+    return sum(i.price * i.quantity for i in items)\n`,
  json: `{"task_id":"T042","epoch":3,"commands":[{"run":"npm test -- --grep 'login'","exit_code":0,"output_sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}],"ok":true,"next":null}`,
  xml: `<?xml version="1.0"?>\n<handoff><from>implementer-agent</from><to>reviewer-agent</to><status>success</status><issue_number>42</issue_number><summary>Adds &lt;b&gt; &amp; trims</summary></handoff>`,
  stackTrace: `TypeError: Cannot read properties of undefined (reading 'length')\n    at checkShape (file:///home/app/src/protocol/shape/check-shape.ts:41:27)\n    at async Promise.all (index 0)\n    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)\n`,
  hashes: `e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 da39a3ee5e6b4b0d3255bfef95601890afd80709`,
  base64: `eyJhbGciOiJFZERTQSIsImtpZCI6IjNxMjctQUJDREVGRyJ9.qL8R4QIcQ_ZsRqOAbeRfcZhilN_MksRtDaErMA+/kX9tZQ==`,
  uuids: `7d444840-9dc0-11d1-b245-5ffdce74fad2, F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6`,
  paths: `/home/user/.local/state/baton/projects/shop/worktrees/T042/node_modules/@scope/pkg/dist/index.d.mts:12:3`,
  markdown:
    '# Result\n\n| check | exit code |\n|---|---:|\n| `npm test` | 0 |\n\n```sh\nnpm ci && npm test -- --run 2>&1 | tail -n 20\n```\n\n---------------------------\n\n- [x] **done**, see [the log](./log.txt)\n',
  sql: `SELECT t.id, COUNT(*) AS n FROM tasks t LEFT JOIN claims c ON c.task_id = t.id WHERE t.phase <> 'COMPLETED' GROUP BY 1 HAVING COUNT(*) > 3;`,
};

const scripts = {
  chinese,
  japanese,
  korean,
  russian: 'Форма входа принимает пустой пароль, потому что проверка выполняется до удаления пробелов. ТЕСТ ДОБАВЛЕН.',
  arabic: 'يقبل نموذج تسجيل الدخول كلمة مرور فارغة، لأن الفحص يجري قبل إزالة المسافات.',
  hindi: 'लॉगिन फ़ॉर्म खाली पासवर्ड स्वीकार करता है, क्योंकि जाँच रिक्त स्थान हटाने से पहले चलती है।',
  thai: 'แบบฟอร์มเข้าสู่ระบบยอมรับรหัสผ่านว่าง เพราะการตรวจสอบทำงานก่อนตัดช่องว่าง',
  hebrew: 'טופס הכניסה מקבל סיסמה ריקה, כי הבדיקה רצה לפני הסרת הרווחים.',
  greek: 'Η φόρμα σύνδεσης δέχεται κενό κωδικό, επειδή ο έλεγχος εκτελείται πριν αφαιρεθούν τα κενά.',
  german:
    'Das Anmeldeformular nimmt ein leeres Paßwort an, weil die Prüfung vor dem Kürzen läuft; Größenänderung übernächstes Jahr.',
  vietnamese: 'Biểu mẫu đăng nhập chấp nhận mật khẩu trống vì việc kiểm tra chạy trước khi cắt khoảng trắng.',
  emoji: '👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇨🇭🇯🇵 1️⃣ ❤️‍🔥 🧑🏿‍🚀 ✅❌⚠️ 🫠🪿',
  stackedAccents: 'z̷̢̛a̴̡̛̠l̸̨̛g̵̢̛o̶̧̕ é́́́́́́́́',
  mathematics: '∀x∈ℝ: ⌈x⌉ = −⌊−x⌋ ∧ 𝔸𝔹ℂ → ∑ᵢ xᵢ² ≤ ∞',
};

const strange = {
  controls: '\u0000\u0001\u001b[31mred\u001b[0m\u0007\u007f\u0085\u200b\u2028\ufeff',
  loneSurrogates: 'a\ud800b\udc00\udfff\ud83d',
  privateUse: '\ue000\uf8ff\u{f0000}\u{10fffd}',
  specialTokens: '<|endoftext|><|im_start|>system<|fim_prefix|>',
  spaces: ' '.repeat(5_000),
  lines: '\n'.repeat(3_000),
  letters: 'a'.repeat(3_000),
  capitals: 'W'.repeat(3_000),
  marks: '{'.repeat(3_000),
  digits: '7'.repeat(3_000),
  ideographs: '龘'.repeat(1_000),
  indented: `${' '.repeat(37)}x\n\t\t\t\t\t y \r\n  3 \n \r`.repeat(40),
};

const MARKS = `!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`.split('');

/** Pieces of adversarial texts: each is cheap for some tokenizer, and expensive at the wrong place. */
const words = ONE_TOKEN_WORDS.trim().split(/\s+/);
const codePoint = (first: number, last: number) =>
  fc.integer({ min: first, max: last }).map((code) => String.fromCodePoint(code));
const word = fc.constantFrom(...words);
const capitalised = word.map((each) => each.charAt(0).toUpperCase() + each.slice(1));
const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz'.split(''));
const mark = fc.constantFrom(...MARKS);
const repeated = (each: fc.Arbitrary<string>) =>
  fc.tuple(each, fc.integer({ min: 1, max: 40 })).map(([text, times]) => text.repeat(times));
const pieces = [
  word,
  word.map((each) => ` ${each}`),
  capitalised,
  word.map((each) => each.toUpperCase()),
  letter,
  letter.map((each) => each.toUpperCase()),
  repeated(letter),
  fc.constantFrom(...'qxzjkvwyQXZJKVWY'.split('')),
  fc.constantFrom(...'0123456789abcdef'.split('')),
  mark,
  repeated(mark),
  fc.constantFrom(' ', '  ', '\n', '\n\n', '\t', '\r\n', '\r', '    ', '\u00a0', '\u3000', '\v', '\f'),
  repeated(fc.constant(' ')),
  codePoint(0, 0x1f),
  codePoint(0x80, 0x24f),
  codePoint(0x300, 0x36f),
  codePoint(0x370, 0x5ff),
  codePoint(0x600, 0x6ff),
  codePoint(0x900, 0xe7f),
  codePoint(0x2000, 0x2bff),
  codePoint(0x3000, 0x30ff),
  codePoint(0x4e00, 0x9fff),
  codePoint(0xac00, 0xd7a3),
  codePoint(0xff00, 0xffef),
  codePoint(0x1f1e6, 0x1f1ff),
  codePoint(0x1f300, 0x1faff),
  fc.constantFrom('\u200d', '\ufe0f', '\u20e3', '\u{1f3fb}'),
  codePoint(0, 0xffff),
  codePoint(0x10000, 0x10ffff),
];
/** Uses few kinds of pieces in a text, because mixing all kinds hides the effect of one pair of neighbours. */
const adversarial = fc
  .shuffledSubarray(pieces, { minLength: 1, maxLength: 3 })
  .chain((kinds) => fc.array(fc.oneof(...kinds), { minLength: 1, maxLength: 30 }))
  .map((parts) => parts.join(''));

describe('the bound is never below what a tokenizer counts', () => {
  it.each(Object.entries({ prose, report, ...code, ...scripts, ...strange }))('%s', (_, text) => {
    for (const count of Object.values(tokenizers)) expect(count(text)).toBeLessThanOrEqual(boundTokens(text));
  });

  it('texts made of pieces that tokenizers cut differently', () => {
    fc.assert(
      fc.property(adversarial, (text) => {
        expect(realTokens(text)).toBeLessThanOrEqual(boundTokens(text));
      }),
      { numRuns: samples(500) },
    );
  });

  it('random ASCII and random Unicode', () => {
    const unit = fc.constantFrom('grapheme-ascii', 'grapheme', 'binary', 'binary-ascii');
    const text = unit.chain((each) => fc.string({ unit: each, maxLength: 60 }));
    fc.assert(
      fc.property(text, (each) => {
        expect(realTokens(each)).toBeLessThanOrEqual(boundTokens(each));
      }),
      { numRuns: samples(250) },
    );
  });

  it('every word that counts as known, with a space, a capital or a mark before it', () => {
    for (const each of words) {
      const capital = each.charAt(0).toUpperCase() + each.slice(1);
      expect({ each, tokens: [realTokens(each), realTokens(` ${each}`)] }).toStrictEqual({ each, tokens: [1, 1] });
      const longer = [capital, ` ${capital}`, ...MARKS.map((before) => before + each)];
      expect(
        longer.filter((text) => realTokens(text) > boundTokens(text) || (realTokens(text) > 2 && text[0] !== "'")),
      ).toStrictEqual([]);
    }
  });

  it('every character that is charged less than its bytes', () => {
    const all = Array.from({ length: 0x2_00_00 }, (_, code) => String.fromCodePoint(code));
    const cheap = all.filter((text) => boundTokens(text) < Buffer.byteLength(text));
    expect(cheap.length).toBeGreaterThan(15_000);
    const step = Math.round(cheap.length / samples(cheap.length));
    const asked = cheap.filter((_, i) => i % step === 0);
    expect(asked.filter((text) => realTokens(text) > boundTokens(text))).toStrictEqual([]);
  });
});

describe('the bound is tight enough that 2,500 tokens carry useful text', () => {
  it.each([
    ['English prose', prose, 1.65],
    ['an English report about code', report, 1.6],
    ['TypeScript', code.typescript, 2],
    ['Python', code.python, 2],
    ['a diff', code.diff, 2],
    ['JSON', code.json, 2],
    ['Chinese', chinese, 2.2],
    ['Japanese', japanese, 2.5],
    ['Korean', korean, 2.5],
    ['Russian', scripts.russian, 3],
    ['emoji', scripts.emoji, 2],
  ])('%s', (_, text, factor) => {
    expect(boundTokens(text) / realTokens(text)).toBeLessThanOrEqual(factor);
  });

  it('leaves room for tokenizers that cut prose finer than those of the tests', () => {
    for (const text of [prose, report]) expect(boundTokens(text) / realTokens(text)).toBeGreaterThanOrEqual(1.3);
  });
});

describe('cutToTokens', () => {
  it('returns a text that fits unchanged', () => {
    expect(cutToTokens(report, boundTokens(report))).toBe(report);
    expect(cutToTokens('', 0)).toBe('');
  });

  it('returns a prefix within the bound that splits no surrogate pair', () => {
    fc.assert(
      fc.property(adversarial, fc.nat({ max: 60 }), (text, most) => {
        const cut = cutToTokens(text, most);
        expect(text.startsWith(cut)).toBe(true);
        expect(boundTokens(cut)).toBeLessThanOrEqual(most);
        const isPairSplit = /[\ud800-\udbff]$/.test(cut) && /^[\udc00-\udfff]/.test(text.slice(cut.length));
        expect(isPairSplit).toBe(false);
      }),
      { numRuns: samples(250) },
    );
  });

  it('ends at the end of a line if one is near, else at the end of a word', () => {
    const lines = 'a first line\na second line\na third line\n';
    expect(cutToTokens(lines, boundTokens(lines) - 3)).toBe('a first line\na second line');
    expect(cutToTokens('one two three four five six', 4)).toMatch(/^one two three( four)?$/);
  });

  it('uses the budget up in a text without a place to cut', () => {
    for (const text of [
      'x'.repeat(5_000),
      '龘'.repeat(5_000),
      '👍'.repeat(5_000),
      ' '.repeat(50_000),
      '='.repeat(50_000),
    ]) {
      expect(boundTokens(cutToTokens(text, 1_000))).toBeGreaterThanOrEqual(995);
    }
  });

  it('cuts a megabyte as fast as the few lines that it returns', () => {
    const huge = report.repeat(3_000);
    expect(cutToTokens(huge, 2_500).length).toBeGreaterThan(5_000);
    expect(boundTokens(cutToTokens(huge, 2_500))).toBeLessThanOrEqual(2_500);
  });
});

describe('cutStartToTokens', () => {
  it('returns the end within the bound, splits no surrogate pair, and leaves a text that fits', () => {
    fc.assert(
      fc.property(adversarial, fc.integer({ min: -5, max: 60 }), (text, most) => {
        const cut = cutStartToTokens(text, most);
        expect(text.endsWith(cut)).toBe(true);
        expect(boundTokens(cut)).toBeLessThanOrEqual(Math.max(0, most));
        const isPairSplit = /^[\udc00-\udfff]/.test(cut) && /[\ud800-\udbff]$/.test(text.slice(0, -cut.length));
        expect(isPairSplit).toBe(false);
        expect(cut === text).toBe(boundTokens(text) <= most);
      }),
      { numRuns: samples(250) },
    );
  });

  it('begins at the begin of a line if one is near, and uses the budget up if there is no place to cut', () => {
    const lines = 'a first line\na second line\na third line\n';
    expect(cutStartToTokens(lines, boundTokens(lines) - 2)).toBe('a second line\na third line\n');
    for (const text of ['x'.repeat(5_000), '龘'.repeat(5_000), ' '.repeat(50_000), '='.repeat(50_000)])
      expect(boundTokens(cutStartToTokens(text, 1_000))).toBeGreaterThanOrEqual(990);
  });
});
