import { describe, expect, test } from 'vitest';
import { CausewayError } from '../../error.ts';
import { FlowError } from '../../flows/flow.ts';
import { describeError as describeIn, referenceOf } from './error-messages.ts';
import { createUi } from './ui.tsx';

const describeError = (error: unknown) => describeIn(error, createUi().t);

const failure = (code: string, errors = {}) =>
  new CausewayError({ code, status: 422, message: 'as the service says', eventId: 'req-1', errors });

describe('error messages', () => {
  test("say what happened and what to do, with the service's reference even if a flow wrapped the error", () => {
    const error = new FlowError('checking', 'insufficient_balance', 'x', {
      cause: failure('insufficient_balance'),
    });
    expect(describeError(error)).toEqual({
      title: 'Insufficient balance',
      advice: 'Choose a smaller amount or add funds.',
      needsSignIn: false,
    });
    expect(referenceOf(error)).toBe('req-1');
  });

  test('never advise to buy again what may be bought already', () => {
    expect(describeError(failure('approval_already_used')).advice).toMatch(/may be complete/);
  });

  test.each(['chain_not_supported', 'contract_not_found', 'symbol_not_found'])('describe %s', (code) => {
    expect(describeError(failure(code)).advice).not.toBe('as the service says');
  });

  test("name the invalid fields, and fall back to the service's message for unknown codes", () => {
    expect(describeError(failure('validation_failed', { amount: ['is too small', 'is odd'] })).advice).toBe(
      'amount: is too small, is odd',
    );
    expect(describeError(failure('from_the_future')).advice).toBe('as the service says');
    expect(describeError(failure('constructor')).advice).toBe('as the service says');
    expect(describeError(null).advice).toBe('Please try again.');
  });
});
