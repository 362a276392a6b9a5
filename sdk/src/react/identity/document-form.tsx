import { type FormEvent, useEffect, useId, useRef } from 'react';
import type { NewDocumentSubmission, UserPii } from '../../wire.ts';
import { usePii } from '../hooks/use-user.ts';
import { Loading, Skeleton } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import type { Message } from '../ui/messages.ts';
import { useUi } from '../ui/ui.tsx';

type Field = { name: string; label: Message; type?: 'date'; autoComplete?: string; isWide?: boolean };

/** The field names come from the signing provider's template. */
const FIELDS: readonly Field[] = [
  { name: 'Full Name', label: 'Full legal name', autoComplete: 'name', isWide: true },
  { name: 'Country Of Citizenship', label: 'Country of citizenship' },
  { name: 'DOB', label: 'Date of birth', type: 'date', autoComplete: 'bday' },
  { name: 'Permanent Address', label: 'Permanent address', autoComplete: 'street-address', isWide: true },
  { name: 'City', label: 'City, state and postal code' },
  { name: 'Country', label: 'Country', autoComplete: 'country-name' },
  { name: 'Foreign Tax Number', label: 'Tax ID in your country' },
  { name: 'Date', label: 'Date', type: 'date' },
  { name: 'Signature', label: 'Signature (type your name)', isWide: true },
];
const FORM_NOTE =
  "You'll sign the form through the link we email you. We pass on what you enter here and don't store it.";
/** Fields that do not apply to a company. */
const PERSON_ONLY = new Set(['DOB', 'Country Of Citizenship']);

type Props = {
  isSending: boolean;
  isResend: boolean;
  onSend(fields: NewDocumentSubmission): void;
  onCancel(): void;
};

/** The tax form, prefilled with the user's known details. Only the signing provider stores what the user enters. */
export function DocumentForm({ isSending, isResend, onSend, onCancel }: Props) {
  const { t } = useUi();
  const { data: pii, error, refresh } = usePii();
  if (pii === undefined && error !== undefined) return <ErrorNotice error={error} onRetry={refresh} />;
  if (pii === undefined)
    return (
      <div className="cw-form">
        <Loading>{t('Loading your details…')}</Loading>
        <Skeleton height="24em" />
      </div>
    );
  return <PrefilledForm {...{ pii, isSending, isResend, onSend, onCancel }} />;
}

function PrefilledForm({ pii, isSending, isResend, onSend, onCancel }: Props & { pii: UserPii }) {
  const { cx, t } = useUi();
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  const prefilled = prefillFields(pii, new Date());
  const fields = FIELDS.filter(({ name }) => pii.kind === 'person' || !PERSON_ONLY.has(name));
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entered = new FormData(event.currentTarget);
    onSend(Object.fromEntries(fields.map(({ name }) => [name, String(entered.get(name) ?? '').trim()])));
  };
  return (
    <form className="cw-form" ref={form} onSubmit={send}>
      <div className="cw-fields">
        {fields.map(({ name, label, type, autoComplete, isWide }) => (
          <div key={name} className={cx(`cw-field ${isWide ? 'cw-field-wide' : ''}`)}>
            <label htmlFor={`${id}${name}`}>{t(label)}</label>
            <input
              id={`${id}${name}`}
              name={name}
              className={cx('cw-input')}
              type={type ?? 'text'}
              autoComplete={autoComplete ?? 'off'}
              defaultValue={prefilled[name] ?? ''}
              required
            />
          </div>
        ))}
      </div>
      <p className={cx('cw-muted cw-small')}>{t(FORM_NOTE)}</p>
      <div className="cw-row cw-wrap">
        <button type="submit" className={cx('cw-button cw-button-main')} disabled={isSending}>
          {t(isSending ? 'Sending…' : isResend ? 'Resend form' : 'Email me the form')}
        </button>
        <button type="button" className={cx('cw-button cw-button-quiet')} onClick={onCancel}>
          {t('Cancel')}
        </button>
      </div>
    </form>
  );
}

/** Maps the user's known details to the form's fields, except the signature, which only the user can give. */
export function prefillFields(pii: UserPii, today: Date): Record<string, string> {
  const { street, city, state, postal_code } = pii.permanent_address;
  const join = (...parts: readonly (string | null)[]) => parts.filter((part) => part).join(', ');
  const country = pii.jurisdiction?.name ?? pii.permanent_address.country ?? '';
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  return {
    'Full Name': pii.full_legal_name ?? '',
    'Country Of Citizenship': country,
    DOB: pii.date_of_birth ?? '',
    'Permanent Address': street ?? '',
    City: join(city, state, postal_code),
    Country: country,
    'Foreign Tax Number': pii.tax_id ?? '',
    Date: `${today.getFullYear()}-${twoDigits(today.getMonth() + 1)}-${twoDigits(today.getDate())}`,
  };
}
