import { ApiError } from '../../../kernel/errors.ts';

/** Resolves to undefined if the read reverts, for example because the contract lacks the view. */
export async function optionalView<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'contract_reverted') return undefined;
    throw error;
  }
}
