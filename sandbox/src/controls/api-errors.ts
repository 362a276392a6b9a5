import { ApiError, ERRORS, type ErrorCode } from '@causeway/service/kernel/errors.ts';
import { ControlError } from '../simulators/control.ts';

/** Awaits a simulator call and rethrows its `ControlError` as an `ApiError` with the same code. */
export async function withApiErrors<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ControlError && error.code in ERRORS) {
      throw new ApiError(error.code as ErrorCode, error.details, { message: error.message, cause: error });
    }
    throw error;
  }
}
