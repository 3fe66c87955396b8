import { expect, test } from 'vitest';
import { sameSecret } from './same-secret.ts';

test('texts are the same only when every character is', () => {
  const text = 'Basic QUtJQTpzZWNyZXQ= ä€😀';
  expect(sameSecret(text, `${text.slice(0, 5)}${text.slice(5)}`)).toBe(true);
  expect(sameSecret('', '')).toBe(true);
  for (let i = 0; i < text.length; i++) {
    const other = text.slice(0, i) + String.fromCharCode(text.charCodeAt(i) ^ 0x100) + text.slice(i + 1);
    expect(sameSecret(text, other)).toBe(false);
    expect(sameSecret(text, text.slice(0, i))).toBe(false);
    expect(sameSecret(text.slice(0, i), text)).toBe(false);
  }
});
