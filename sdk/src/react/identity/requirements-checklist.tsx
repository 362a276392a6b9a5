import { useEffect, useId, useState } from 'react';
import type { OfferDetails } from '../../wire.ts';
import { RequirementStep } from '../lazy-parts.tsx';
import type { BlockProps } from '../ui/class-names.ts';
import { Loading, Skeleton, StatusBadge } from '../ui/elements.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { REQUIREMENT_GROUPS, REQUIREMENT_LABELS, STATUS_LABELS, WALLET_STEP_NAMES } from '../ui/labels.ts';
import { type Translate, useUi } from '../ui/ui.tsx';
import { BlockerNotice } from './blocker-notice.tsx';
import { isFinal } from './blockers.ts';
import { describeJurisdiction } from './jurisdiction.ts';
import type { StepProps } from './requirement-step.tsx';
import { useBlockers } from './use-blockers.ts';
import { useGuide } from './use-guide.ts';
import {
  isOpenStep,
  type RequirementRow,
  remainingSteps,
  useRequirementRows,
} from './use-requirement-rows.ts';

export type RequirementsChecklistProps = BlockProps & {
  offer: OfferDetails;
  optionId: string;
  /**
   * The next step starts when this number changes. Change it, for example, when the user clicks your own "Start"
   * button.
   */
  startSignal?: number | undefined;
  /**
   * Called as soon as every requirement is met and nothing else blocks the user, even if that is already the case at
   * the start.
   */
  onCompleted?: (() => void) | undefined;
};

/**
 * Shows what stops the user from investing, then lists an option's requirements with their status and the next step.
 * The user completes identity checks, documents and wallets without leaving the page. When the user finishes a step,
 * the next one starts. Steps that the service would refuse are not offered.
 *
 * @example
 * ```tsx
 * import { RequirementsChecklist, useOffer } from '@causeway/sdk/react';
 *
 * function Checklist() {
 *   const { data: offer } = useOffer('harbour-quarter');
 *   const option = offer?.options[0];
 *   return offer && option ? <RequirementsChecklist offer={offer} optionId={option.id} /> : null;
 * }
 * ```
 */
export function RequirementsChecklist(props: RequirementsChecklistProps) {
  const { cx, t } = useUi();
  const { offer, optionId, startSignal = 0, onCompleted, className } = props;
  const { rows, error, done, isAllDone, expectChange, refresh } = useRequirementRows(offer.id, optionId);
  const { blockers, isLoading } = useBlockers(offer.id, optionId);
  const canInvest = isAllDone && !isLoading && blockers.length === 0;
  useEffect(() => {
    if (canInvest) onCompleted?.();
  }, [canInvest]);
  const registersWallets =
    rows?.some(({ requirement }) => requirement.type === 'whitelisted_wallet') ?? false;
  const isBlocked = isFinal(blockers);
  // The notice shows only the blockers that belong to no requirement, because each rejected requirement shows its own
  // reason. If all blockers belong to requirements, the notice shows the first one.
  const general = blockers.filter(({ requirement_id }) => requirement_id === null);
  const shown = general.length > 0 ? general : blockers.slice(0, 1);
  const groups = groupsOf(rows ?? []);
  const next = groups.flatMap(({ members }) => members).find(isOpenStep);
  const [chosenId, setChosenId] = useState<string | null>(null);
  const chosen = rows?.find((row) => row.requirement.id === chosenId && isOpenable(row));
  const openRow = chosen ?? next;
  const guideOf = useGuide({
    ...{ rows, next: isBlocked ? undefined : next, startSignal },
    onNext: () => setChosenId(null),
  });
  return (
    <section className={cx('cw cw-card cw-checklist', className)} aria-busy={rows === undefined}>
      <Head {...{ rows, done, isBlocked, canInvest }} />
      {rows === undefined && error !== undefined && <ErrorNotice error={error} onRetry={refresh} />}
      {rows === undefined && error === undefined && <ChecklistSkeleton />}
      {rows !== undefined && shown.length > 0 && (
        <div className="cw-checklist-blockers">
          <BlockerNotice blockers={shown} onProgress={expectChange} />
        </div>
      )}
      {groups.map(({ name, members }) => (
        <div key={name} className="cw-requirement-group">
          <h3 className={cx('cw-subtitle')}>{t(name)}</h3>
          <ol className={cx('cw-list')}>
            {members.map((row) => (
              <Row
                key={row.requirement.id}
                {...{ offer, optionId, row, expectChange, isBlocked, registersWallets }}
                guide={guideOf(row)}
                isNext={row === next}
                isOpen={row === openRow}
                onOpen={() => setChosenId(row.requirement.id)}
              />
            ))}
          </ol>
        </div>
      ))}
    </section>
  );
}

/** Returns the rows by group. Groups with a rejection come first, and rejected rows come first in their group. */
function groupsOf(rows: readonly RequirementRow[]) {
  const rank = ({ status }: RequirementRow) => (status.status === 'rejected' ? 0 : 1);
  return REQUIREMENT_GROUPS.map(({ name, types }) => {
    const members = rows.filter(({ requirement }) => (types as readonly string[]).includes(requirement.type));
    return { name, members: members.toSorted((a, b) => rank(a) - rank(b)) };
  })
    .filter(({ members }) => members.length > 0)
    .toSorted((a, b) => Math.min(...a.members.map(rank)) - Math.min(...b.members.map(rank)));
}

/**
 * Returns whether a row has something to show when it opens. A completed wallet step still has something to show,
 * because the wallet can be changed.
 */
function isOpenable(row: RequirementRow): boolean {
  const { requirement, status } = row;
  return isOpenStep(row) || (status.status === 'completed' && requirement.type.endsWith('_wallet'));
}

/**
 * Returns true for a rejected step that shows nothing but the reason. A rejected document is different: its step offers
 * an action.
 */
function isExplained({ requirement, status }: RequirementRow): boolean {
  return status.status === 'rejected' && requirement.type !== 'document';
}

type HeadProps = {
  rows: readonly RequirementRow[] | undefined;
  done: number;
  isBlocked: boolean;
  canInvest: boolean;
};

function Head({ rows, done, isBlocked, canInvest }: HeadProps) {
  const { cx, t } = useUi();
  const titleId = useId();
  const total = rows?.length;
  return (
    <div className="cw-checklist-head">
      <h2 className={cx('cw-title')} id={titleId}>
        {t('Before you invest')}
      </h2>
      <p className={isBlocked || done === total ? 'cw-strong' : 'cw-muted'} role="status">
        {progressText({ rows, done, isBlocked, canInvest }, t)}
      </p>
      {total !== 0 && (
        <progress className={cx('cw-bar')} max={total ?? 1} value={done} aria-labelledby={titleId} />
      )}
    </div>
  );
}

function progressText({ rows, done, isBlocked, canInvest }: HeadProps, t: Translate): string {
  if (rows === undefined) return '\u00a0';
  const total = rows.length;
  if (isBlocked) return t("You can't invest in this option.");
  if (canInvest)
    return t(total === 0 ? 'No checks needed. You can invest now.' : 'All done. You can invest now.');
  const { steps, minutes } = remainingSteps(rows);
  const progress = t('{done} of {total} done', { done, total });
  if (total === 0) return '\u00a0';
  return steps === 0 ? progress : `${progress}. ${t('About {minutes} min left.', { minutes })}`;
}

type RowProps = StepProps & {
  /** Whether this is the open row. One row is open at a time. */
  isOpen: boolean;
  onOpen(): void;
  /** True if the user cannot invest because of a rejection. In that case, no row offers a step. */
  isBlocked: boolean;
};

function Row(props: RowProps) {
  const ui = useUi();
  const { cx, t } = ui;
  const { isOpen, isBlocked, onOpen } = props;
  const { requirement, status } = props.row;
  // Before the user is verified, their country is unknown. The row then shows "not started" instead of a problem.
  const isUnknownCountry = requirement.type === 'jurisdiction' && status.kyc_reset === false;
  const [tone, label] = STATUS_LABELS[isUnknownCountry ? 'not_started' : status.status];
  const reason = REQUIREMENT_LABELS[requirement.type][1];
  // A step that is in progress or rejected is shown even if its row is closed, so that the user can read the
  // explanation.
  const isShown = isOpen || status.status === 'in_progress' || status.status === 'rejected';
  const canOpen = !isShown && !isBlocked && isOpenable(props.row);
  const stepId = useId();
  const text = (
    <>
      <span className={cx('cw-strong')}>{nameOf(requirement, t)}</span>
      {isShown && (
        <span className={cx('cw-muted cw-small')}>
          {requirement.type === 'jurisdiction' ? describeJurisdiction(requirement.details, ui) : t(reason)}
        </span>
      )}
    </>
  );
  return (
    <li className={cx('cw-requirement')} data-requirement={requirement.type} data-status={status.status}>
      <div className="cw-requirement-line">
        {canOpen ? (
          <button
            type="button"
            className="cw-requirement-name cw-grow"
            aria-expanded={false}
            aria-controls={stepId}
            onClick={onOpen}
          >
            {text}
          </button>
        ) : (
          <div className="cw-requirement-name cw-grow">{text}</div>
        )}
        <StatusBadge tone={tone}>{t(label)}</StatusBadge>
      </div>
      {/*
       * Hides the step instead of removing it, so that a dialog that the step has opened stays until the user closes
       * it.
       */}
      <div id={stepId} hidden={!isShown || (isBlocked && !isExplained(props.row))}>
        <RequirementStep {...props} />
      </div>
    </li>
  );
}

function nameOf({ type, details }: RequirementRow['requirement'], t: Translate): string {
  if (type === 'acknowledgement') return details.name;
  return t(type === 'external_wallet' ? WALLET_STEP_NAMES[details.protocol] : REQUIREMENT_LABELS[type][0]);
}

function ChecklistSkeleton() {
  const { cx, t } = useUi();
  return (
    <>
      <Loading>{t('Loading requirements…')}</Loading>
      <ul className={cx('cw-list')} aria-hidden="true">
        {['a', 'b', 'c'].map((key) => (
          <li key={key} className={cx('cw-requirement')}>
            <Skeleton height="4.4em" />
          </li>
        ))}
      </ul>
    </>
  );
}
