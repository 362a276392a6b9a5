import type { OfferDetails } from '../../wire.ts';
import type { BlockProps } from '../ui/class-names.ts';
import { Skeleton, StatusBadge } from '../ui/elements.tsx';
import { type Fact, FactList } from '../ui/fact-list.tsx';
import { isWebUrl, slugToTitle } from '../ui/format.ts';
import { MILESTONE_LABELS } from '../ui/labels.ts';
import type { Message } from '../ui/messages.ts';
import { type Ui, useUi } from '../ui/ui.tsx';
import type { OfferPartProps } from './offer-header.tsx';

const PART = 'cw cw-card cw-part';

/**
 * Shows an offer's terms, followed by the terms of all its options, or of one option if `optionId` is given.
 *
 * @example
 * ```tsx
 * import { OfferTerms, useOffer } from '@causeway/sdk/react';
 *
 * function Page() {
 *   const { data: offer } = useOffer('harbour-quarter');
 *   return <OfferTerms offer={offer} optionId={offer?.options[0]?.id} />;
 * }
 * ```
 */
export function OfferTerms(props: OfferPartProps & { optionId?: string | undefined }) {
  const ui = useUi();
  const { cx, t } = ui;
  const { offer, optionId, className } = props;
  if (offer === undefined) return <SectionSkeleton title="Terms" lines={4} {...{ className }} />;
  const options = offer.options.filter(({ id }) => optionId === undefined || id === optionId);
  const general = [...offer.terms.map(({ key, value }) => [key, value] as const), ...datesOf(offer, ui)];
  return (
    <section className={cx(PART, className)}>
      <h2 className={cx('cw-title')}>{t('Terms')}</h2>
      {general.length > 0 && <FactList className="cw-terms" facts={general} />}
      {options.map((option) => {
        const facts = optionFacts(option, offer, ui);
        if (facts.length === 0) return null;
        return (
          <div key={option.id} className="cw-option-terms">
            {offer.options.length > 1 && <h3 className={cx('cw-subtitle')}>{slugToTitle(option.slug)}</h3>}
            <FactList className="cw-terms" facts={facts} />
            {isWebUrl(option.sale_agreement_url) && (
              <a className={cx('cw-link')} href={option.sale_agreement_url} target="_blank" rel="noreferrer">
                {t('Read the sale agreement')}
              </a>
            )}
          </div>
        );
      })}
    </section>
  );
}

function datesOf({ starts_at, ends_at }: OfferDetails, { t, format }: Ui): Fact[] {
  return [
    ...(starts_at === null ? [] : [[t('Opens'), format.date(starts_at)] as const]),
    ...(ends_at === null ? [] : [[t('Ends'), format.date(ends_at)] as const]),
  ];
}

function optionFacts(
  option: OfferDetails['options'][number],
  { asset }: OfferDetails,
  { t, format }: Ui,
): Fact[] {
  const usd = (term: string, value: string | null): Fact[] =>
    value === null ? [] : [[term, format.usd(value)]];
  const supply = option.total_token_supply;
  return [
    ...usd(t('Price per {asset}', { asset: asset.code }), option.price_usd),
    ...usd(t('Floor price'), option.floor_price_usd),
    ...usd(t('Bid increment'), option.bid_increment),
    ...usd(t('Minimum purchase'), option.minimum_purchase_usd),
    ...(supply === null ? [] : [[t('Supply'), `${format.digits(supply)} ${asset.code}`] as const]),
  ];
}

/**
 * Shows an offer's past and planned milestones; renders nothing if there are none.
 *
 * @example
 * ```tsx
 * import { OfferMilestones, useOffer } from '@causeway/sdk/react';
 *
 * function Page() {
 *   return <OfferMilestones offer={useOffer('harbour-quarter').data} />;
 * }
 * ```
 */
export function OfferMilestones({ offer, className }: OfferPartProps) {
  const { cx, t } = useUi();
  if (offer === undefined) return <SectionSkeleton title="Milestones" lines={3} {...{ className }} />;
  if (offer.milestones.length === 0) return null;
  return (
    <section className={cx(PART, className)}>
      <h2 className={cx('cw-title')}>{t('Milestones')}</h2>
      <ol className="cw-milestones">
        {offer.milestones.map(({ name, schedule, status }) => {
          const [tone, label] = MILESTONE_LABELS[status];
          return (
            <li key={`${name} ${schedule}`} className={cx(`cw-milestone cw-tone-${tone}`)}>
              <div>
                <p className={cx('cw-strong')}>{name}</p>
                <p className={cx('cw-muted')}>{schedule}</p>
              </div>
              <StatusBadge tone={tone}>{t(label)}</StatusBadge>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/**
 * Shows an offer's frequently asked questions. Opening one answer closes the others. Renders nothing if there are no
 * questions.
 *
 * @example
 * ```tsx
 * import { OfferFaq, useOffer } from '@causeway/sdk/react';
 *
 * function Page() {
 *   return <OfferFaq offer={useOffer('harbour-quarter').data} />;
 * }
 * ```
 */
export function OfferFaq({ offer, className }: OfferPartProps) {
  const { cx, t } = useUi();
  if (offer === undefined)
    return <SectionSkeleton title="Questions and answers" lines={3} {...{ className }} />;
  if (offer.faqs.length === 0) return null;
  return (
    <section className={cx(PART, className)}>
      <h2 className={cx('cw-title')}>{t('Questions and answers')}</h2>
      <div>
        {offer.faqs.map(({ question, answer }) => (
          <details key={question} className={cx('cw-faq')} name={`cw-faq-${offer.id}`}>
            <summary>{question}</summary>
            <p>{answer}</p>
          </details>
        ))}
      </div>
    </section>
  );
}

/**
 * Shows an offer's links; renders nothing if there are none.
 *
 * @example
 * ```tsx
 * import { OfferLinks, useOffer } from '@causeway/sdk/react';
 *
 * function Page() {
 *   return <OfferLinks offer={useOffer('harbour-quarter').data} />;
 * }
 * ```
 */
export function OfferLinks({ offer, className }: OfferPartProps) {
  const { cx, t } = useUi();
  if (offer === undefined) return <SectionSkeleton title="Learn more" lines={1} {...{ className }} />;
  const links = offer.links.filter(({ url }) => isWebUrl(url));
  if (links.length === 0) return null;
  return (
    <section className={cx(PART, className)}>
      <h2 className={cx('cw-title')}>{t('Learn more')}</h2>
      <ul className="cw-links">
        {links.map(({ label, url }) => (
          <li key={url}>
            <a className={cx('cw-link')} href={url} target="_blank" rel="noreferrer">
              {label}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function SectionSkeleton({ title, lines, className }: BlockProps & { title: Message; lines: number }) {
  const { cx, t } = useUi();
  return (
    <section className={cx(PART, className)} aria-busy="true">
      <h2 className={cx('cw-title')}>{t(title)}</h2>
      <Skeleton height={`${lines * 2.6}em`} />
    </section>
  );
}
