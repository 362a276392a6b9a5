import { expect, test } from 'vitest';
import { findTotpStep, toBase32, totpCode, totpStep, totpUri } from './totp.ts';

const SECRET = Buffer.from('12345678901234567890');

test.each([
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
])('the code at %i seconds is that of RFC 6238, appendix B', (seconds, code) => {
  expect(totpCode(SECRET, totpStep(seconds * 1000))).toBe(code);
});

test('codes of the neighbouring steps are accepted, older and later ones are not', () => {
  const now = 1_700_000_010_000;
  const step = totpStep(now);
  const found = [-2, -1, 0, 1, 2].map((offset) => findTotpStep(SECRET, totpCode(SECRET, step + offset), now));
  expect(found).toEqual([null, step - 1, step, step + 1, null]);
  for (const code of ['', '12345', '1234567', 'abcdef', '１２３４５６'])
    expect(findTotpStep(SECRET, code, now)).toBeNull();
});

test('secrets are written as authenticator apps read them', () => {
  expect(toBase32(SECRET)).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
  expect(totpUri('ada+1@user.test', 'GEZD')).toBe(
    'otpauth://totp/Causeway:ada%2B1%40user.test?secret=GEZD&issuer=Causeway',
  );
});
