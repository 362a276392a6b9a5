import { KycToken, NewKycToken } from '../../kernel/model/levels.ts';
import { WebhookReceipt } from '../../kernel/model/webhook.ts';
import { publicRoute, userRoute } from '../../platform/http/route.ts';
import { createKycToken } from './token.ts';
import { receiveIdentityEvent } from './webhook.ts';

export const identityRoutes = [
  userRoute('identity:write', {
    method: 'POST',
    path: '/v1/kyc-token',
    operationId: 'createKycToken',
    summary: 'Start or continue identity verification',
    body: NewKycToken,
    forms: true,
    limit: 'kyc_token',
    reply: KycToken,
    errors: ['not_found', 'kyc_in_review', 'kyc_final_rejection', 'upstream_error', 'upstream_unavailable'],
    handle: (ctx, caller, { body }) => createKycToken(ctx, caller, body),
  }),
];

export const identityWebhookRoutes = [
  publicRoute({
    method: 'POST',
    path: '/webhooks/identity',
    operationId: 'receiveIdentityEvent',
    summary: 'Receive an event from the identity provider',
    description:
      'Only for the identity provider. The signature of the body is verified before anything else.',
    rawBody: true,
    reply: WebhookReceipt,
    errors: ['unauthorized', 'payload_too_large'],
    handle: (ctx, _caller, { body, request }) => receiveIdentityEvent(ctx, request.headers, body as Buffer),
  }),
];
