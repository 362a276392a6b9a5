import Type, { type Static } from 'typebox';
import { AcknowledgementDetails } from '../../kernel/model/requirement.ts';
import { List } from '../../kernel/paging.ts';
import { Closed, ObjectName, Timestamp, Uri } from '../../kernel/wire.ts';

const { document, version, sha256 } = AcknowledgementDetails.properties;

export const NewAcknowledgement = Closed(
  { document, version, sha256 },
  {
    title: 'NewAcknowledgement',
    description: "The document that the user has read. Use the values from the requirement's `details`.",
  },
);
export type NewAcknowledgement = Static<typeof NewAcknowledgement>;

export const Acknowledgement = Closed(
  {
    object: ObjectName('acknowledgement'),
    id: Type.String(),
    offer_id: Type.String(),
    document,
    name: Type.String(),
    url: Uri,
    version,
    sha256,
    inserted_at: Timestamp,
  },
  { title: 'Acknowledgement' },
);
export type Acknowledgement = Static<typeof Acknowledgement>;

export const Acknowledgements = List(Acknowledgement, 'Acknowledgements');
export type Acknowledgements = Static<typeof Acknowledgements>;
