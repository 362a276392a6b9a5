import type { Static, TSchema } from 'typebox';
import { ApiError } from '../errors.ts';
import { isValid } from '../validation.ts';
import { Closed, ObjectName } from '../wire.ts';

/** The headers of a webhook request from a provider. */
export type WebhookHeaders = Record<string, string | string[] | undefined>;

export const WebhookReceipt = Closed({ object: ObjectName('webhook_receipt') }, { title: 'WebhookReceipt' });

/**
 * Parses the body of a webhook whose sender has been verified. Throws `malformed_request` if the body does not match
 * the schema.
 */
export function parseWebhook<S extends TSchema>(schema: S, body: Buffer): Static<S> {
  let event: unknown;
  try {
    event = JSON.parse(body.toString());
  } catch {
    throw malformedEvent();
  }
  if (!isValid(schema, event)) throw malformedEvent();
  return event as Static<S>;
}

export function malformedEvent(): ApiError {
  return new ApiError('malformed_request', {}, { message: 'The event is malformed.' });
}
