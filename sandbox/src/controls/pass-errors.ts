import { ApiError, ERRORS, type ErrorCode } from '@causeway/service/errors.ts';
import { ControlError } from '../simulators/control.ts';

/** A refusal of the outside world, as the caller of a control sees it. */
export async function passErrors<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ControlError && error.code in ERRORS) {
      throw new ApiError(error.code as ErrorCode, error.details, { message: error.message, cause: error });
    }
    throw error;
  }
}
