import { expect, it } from 'vitest';
import { idOf } from './add-task.ts';
import { editorNameOf } from './editor-key.ts';
import { fencedText, messageLine, plainText } from './plain-text.ts';

it('removes terminal codes, shows control characters, and keeps the end', () => {
  expect(plainText('\u001B]0;title\u0007a\r\nb\u0000')).toBe('a\nb[U+0000]');
  expect(plainText('0123456789', 4)).toBe('…6789');
});

it('turns no text of an agent into a link, image, code or HTML', () => {
  expect(messageLine('done ![x](http://h/y)\n<img src=x> `z`')).toBe(
    String.raw`done !\[x](http://h/y) \<img src=x> \`z\``,
  );
});

it('fences output so that it cannot end the fence', () => {
  expect(fencedText('a\n````\nb').content.text).toBe('`````\na\n````\nb\n`````');
});

it('names keys after editors, and tasks after titles', () => {
  expect(['Zed Preview', 'JetBrains!', '', '日本'].map(editorNameOf)).toEqual([
    'zed-preview',
    'jetbrains',
    'editor',
    'editor',
  ]);
  expect(['Add a login page!', 'Übung', '…'].map(idOf)).toEqual(['add-a-login-page', 'u-bung', 'task']);
});
