import { ApiError } from '../../kernel/errors.ts';

/**
 * Limits how much work one partner can have in progress, so that one partner cannot use up the connections
 * that all partners share.
 */
export type PartnerBudgets = {
  /**
   * Runs `work` immediately if the partner has budget left, otherwise queues `work`. Throws `rate_limited` if too many
   * of the partner's requests are queued. Work that runs immediately and returns no promise costs no budget.
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
  /**
   * Passes a finished request's slot directly to the next queued request. If the slot became free first, a newer
   * request could take it.
   */
  const release = (partnerId: string, budget: Budget): void => {
    const startNext = budget.waiting.shift();
    if (startNext !== undefined) startNext();
    else if (--budget.running === 0) budgets.delete(partnerId);
  };
  const releaseAfter = <Result>(partnerId: string, budget: Budget, result: Promise<Result>) => {
    const done = () => release(partnerId, budget);
    result.then(done, done);
    return result;
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
    return releaseAfter(partnerId, budget, result);
  };
  return {
    run: (partnerId, work, input) => {
      const budget = budgets.get(partnerId) ?? { running: 0, waiting: [] };
      if (budget.running < concurrency) return start(partnerId, budget, work, input);
      if (budget.waiting.length >= maxWaiting)
        throw new ApiError('rate_limited', {}, { headers: { 'retry-after': '1' } });
      const queued = new Promise<void>((resolve) => budget.waiting.push(resolve));
      return releaseAfter(
        partnerId,
        budget,
        queued.then(() => work(input)),
      );
    },
  };
}
