import { ApiError } from '../errors.ts';

/**
 * Limits how much work one partner can have in progress, so that one partner cannot use up the connections
 * that all partners share.
 */
export type PartnerBudgets = {
  /**
   * Runs `work` immediately while the partner has budget; otherwise queues it. Throws `rate_limited` if too many of the
   * partner's requests are queued. Work that returns no promise costs no budget.
   */
  run<Input, Result>(
    partnerId: string,
    work: (input: Input) => Result | Promise<Result>,
    input: Input,
  ): Result | Promise<Result>;
};

type Budget = { running: number; waiting: (() => void)[] };

export function createPartnerBudgets({
  concurrency,
  maxWaiting,
}: {
  concurrency: number;
  maxWaiting: number;
}): PartnerBudgets {
  const budgets = new Map<string, Budget>();
  const release = (partnerId: string, budget: Budget): void => {
    budget.running--;
    budget.waiting.shift()?.();
    if (budget.running === 0 && budget.waiting.length === 0) budgets.delete(partnerId);
  };
  const start = <Input, Result>(
    partnerId: string,
    budget: Budget,
    work: (input: Input) => Result | Promise<Result>,
    input: Input,
  ): Result | Promise<Result> => {
    const result = work(input);
    if (!(result instanceof Promise)) return result;
    budget.running++;
    budgets.set(partnerId, budget);
    result.then(
      () => release(partnerId, budget),
      () => release(partnerId, budget),
    );
    return result;
  };
  return {
    run: (partnerId, work, input) => {
      const budget = budgets.get(partnerId) ?? { running: 0, waiting: [] };
      if (budget.running < concurrency) return start(partnerId, budget, work, input);
      if (budget.waiting.length >= maxWaiting)
        throw new ApiError('rate_limited', {}, { headers: { 'retry-after': '1' } });
      // Wraps the work in a promise, because the next queued request starts only when a promise settles.
      return new Promise<void>((resolve) => budget.waiting.push(resolve)).then(() =>
        start(partnerId, budget, async () => work(input), undefined),
      );
    },
  };
}
