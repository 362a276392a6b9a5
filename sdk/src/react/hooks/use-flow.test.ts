import { expect, test } from 'vitest';
import { CausewayError } from '../../error.ts';
import { isSafeToRetry } from './use-flow.ts';

test('a purchase that may still go through cannot be retried', () => {
  const after = (phase: string, code: string) =>
    isSafeToRetry({ phase, error: new CausewayError({ code, status: 422, message: 'as the service says' }) });
  expect(after('confirming', 'confirmation_timeout')).toBe(false);
  expect(after('confirming', 'network_error')).toBe(false);
  expect(after('confirming', 'outcome_unknown')).toBe(false);
  expect(after('confirming', 'transaction_reverted')).toBe(true);
  for (const phase of ['approving', 'swapping', 'broadcasting']) {
    expect(after(phase, 'confirmation_timeout')).toBe(false);
    expect(after(phase, 'outcome_unknown')).toBe(false);
    expect(after(phase, 'user_rejected')).toBe(true);
  }
});
