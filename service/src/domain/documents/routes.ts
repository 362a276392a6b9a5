import Type from 'typebox';
import { WebhookReceipt } from '../../kernel/model/webhook.ts';
import { publicRoute, userRoute } from '../../platform/http/route.ts';
import { DocumentSubmission, NewSubmission } from './schema.ts';
import { receiveDocumentEvent } from './status.ts';
import { submitDocument } from './submission.ts';

export const documentRoutes = [
  userRoute('documents:write', {
    method: 'POST',
    path: '/v1/documents/:document_type/submission',
    operationId: 'submitDocument',
    summary: 'Send the user a form to sign',
    description:
      'Emails the signing link to the user. A repeated request resends the link; within a minute of the last email, it only returns the current status. If the latest form was declined, has expired or is no longer valid, the request starts a new form.',
    params: Type.Object({ document_type: Type.String({ description: '`tax_certification`' }) }),
    body: NewSubmission,
    forms: true,
    limit: 'documents',
    reply: DocumentSubmission,
    errors: [
      'not_found',
      'document_completed',
      'tax_form_not_applicable',
      'upstream_error',
      'upstream_unavailable',
    ],
    handle: (ctx, caller, { params, body }) => submitDocument(ctx, caller, params.document_type, body),
  }),
];

export const documentWebhookRoutes = [
  publicRoute({
    method: 'POST',
    path: '/webhooks/documents',
    operationId: 'receiveDocumentEvent',
    summary: 'Receive an event from the signing provider',
    description: 'Only for the signing provider. The service verifies the sender before it parses the body.',
    rawBody: true,
    reply: WebhookReceipt,
    errors: ['unauthorized', 'payload_too_large'],
    handle: (ctx, _caller, { body, request }) => receiveDocumentEvent(ctx, request.headers, body as Buffer),
  }),
];
