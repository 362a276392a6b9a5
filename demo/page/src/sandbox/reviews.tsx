import { useInvalidate } from '@causeway/sdk/react';
import { useId, useState } from 'react';
import { Choices, ControlMessage, useControl } from './control.tsx';

const LEVELS = [
  ['Sorting_KYC_Level', 'Who you are'],
  ['BasicKYCLevel', 'Identity'],
  ['AccreditationIndividual_FullVerification', 'Accreditation'],
] as const;

const DECISIONS: [name: string, decision: object][] = [
  ['Approve', { answer: 'GREEN' }],
  ['Ask again', { answer: 'RED', reject_type: 'RETRY' }],
  ['Reject', { answer: 'RED', reject_type: 'FINAL' }],
];

const FORM_ACTIONS = [
  ['Sign form', 'sign'],
  ['Decline form', 'decline'],
  ['Expire form', 'expire'],
] as const;

/**
 * Sandbox controls that act as the providers. Users decide the outcome of their own identity reviews, and sign, decline
 * or expire their own tax forms.
 */
export function Reviews() {
  const { isBusy, message, send } = useControl();
  const invalidate = useInvalidate();
  const [level, setLevel] = useState<string>(LEVELS[0][0]);
  const id = useId();
  const act = async (path: string, body: object, done: string) => {
    if (await send(path, body, done)) invalidate('requirementStatuses', 'eligibility');
  };
  return (
    <>
      <label htmlFor={id}>Review</label>
      <select id={id} className="select" value={level} onChange={(event) => setLevel(event.target.value)}>
        {LEVELS.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      <Choices
        {...{ choices: DECISIONS, isBusy }}
        onChoose={(decision, name) =>
          act('identity/reviews', { level_name: level, ...decision }, `Decided: ${name}.`)
        }
      />
      <p>Tax form</p>
      <Choices
        {...{ choices: FORM_ACTIONS, isBusy }}
        onChoose={(action) =>
          act(
            'documents/actions',
            { document_type: 'tax_certification', action },
            `Done: ${action} the form.`,
          )
        }
      />
      <ControlMessage message={message} />
    </>
  );
}
