import Type, { type Static } from 'typebox';
import { Closed, ObjectName } from '../../kernel/wire.ts';
import { FORM_TYPES, type FormValues, SUBMISSION_STATUSES } from '../../platform/providers/documents.ts';

/** The form fields that the API reference lists. Other fields are forwarded too. */
const FIELD_NAMES = [
  'City',
  'Country',
  'Country Of Citizenship',
  'DOB',
  'Date',
  'Foreign Tax Number',
  'Full Name',
  'Permanent Address',
  'Signature',
];

export const NewSubmission = Type.Unsafe<FormValues>({
  type: 'object',
  title: 'NewDocumentSubmission',
  description: `The form values. They are forwarded unchanged and never stored. Fields: ${FIELD_NAMES.join(', ')}.`,
  examples: [{ 'Full Name': 'Ada Lovelace', Country: 'Portugal', City: 'Lisbon', DOB: '1990-12-10' }],
  maxProperties: 50,
  propertyNames: { maxLength: 200 },
  additionalProperties: { type: 'string', maxLength: 16_384 },
});

export const DocumentSubmission = Closed(
  {
    object: ObjectName('document_submission'),
    form_type: Type.Enum([...FORM_TYPES]),
    status: Type.Enum([...SUBMISSION_STATUSES]),
  },
  { title: 'DocumentSubmission' },
);
export type DocumentSubmission = Static<typeof DocumentSubmission>;
