import { useState } from 'react';
import type { AcknowledgementRequirement } from '../../wire.ts';
import { useCauseway } from '../context.ts';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { isWebUrl } from '../ui/format.ts';
import { useUi } from '../ui/ui.tsx';

type Props = {
  offerId: string;
  details: AcknowledgementRequirement['details'];
  onStart(): void;
  onProgress(): void;
};

/** A checkbox with a document link. When the user checks the box, records that they have read the version shown. */
export function AcknowledgementStep({ offerId, details, onStart, onProgress }: Props) {
  const { cx, rich } = useUi();
  const { requirements } = useCauseway();
  // The version for which the user has checked the box. For a newer version, the box starts unchecked.
  const [checked, setChecked] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const { name, url, version, sha256 } = details;
  const shown = `${version} ${sha256}`;
  const isChecked = checked === shown;
  const confirm = async () => {
    // Ignores further clicks instead of disabling the box, because a disabled box would lose the focus.
    if (isChecked) return;
    setChecked(shown);
    setError(null);
    onStart();
    await requirements.acknowledge(offerId, details).catch((cause: unknown) => {
      setChecked(null);
      setError(cause);
    });
    // Makes the checklist reload the requirements. If the document has a new version, this step then shows it.
    onProgress();
  };
  const document = isWebUrl(url) ? (
    <a className={cx('cw-link')} href={url} target="_blank" rel="noreferrer">
      {name}
    </a>
  ) : (
    name
  );
  return (
    <div className="cw-requirement-step">
      <label className={cx('cw-check')}>
        <input type="checkbox" checked={isChecked} disabled={!isWebUrl(url)} onChange={confirm} />
        <span>{rich("I've read {document} (version {version}).", { document, version })}</span>
      </label>
      {error !== null && <ErrorNotice error={error} />}
    </div>
  );
}
