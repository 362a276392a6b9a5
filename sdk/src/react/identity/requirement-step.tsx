import type { OfferDetails } from '../../wire.ts';
import { WalletStep } from '../wallets/wallet-step.tsx';
import { AcknowledgementStep } from './acknowledgement-step.tsx';
import { DocumentStep } from './document-step.tsx';
import { IdentityStep } from './identity-step.tsx';
import type { StepGuide } from './use-guide.ts';
import type { RequirementRow } from './use-requirement-rows.ts';

export type StepProps = {
  offer: OfferDetails;
  optionId: string;
  row: RequirementRow;
  guide: StepGuide;
  isNext: boolean;
  /**
   * True if a user can register several wallets for the option. In that case, a new wallet does not replace the
   * previous one.
   */
  registersWallets: boolean;
  expectChange(): void;
};

/** Lets the user complete a requirement, or explains its status if the user has nothing to do. */
export function RequirementStep(props: StepProps) {
  const { offer, optionId, guide, isNext, registersWallets, expectChange } = props;
  const { requirement, status } = props.row;
  const common = { status, guide, isNext, onProgress: expectChange };
  switch (requirement.type) {
    case 'identity_verification':
    case 'kyc_approved':
    case 'accreditation':
    case 'jurisdiction':
      return <IdentityStep type={requirement.type} {...common} />;
    case 'document':
      return <DocumentStep documentType={requirement.details.document_type} {...common} />;
    case 'acknowledgement':
      return (
        <AcknowledgementStep
          offerId={offer.id}
          details={requirement.details}
          onStart={guide.onStart}
          onProgress={expectChange}
        />
      );
    case 'external_wallet':
      return (
        <WalletStep
          {...{ offer, optionId, ...common }}
          protocol={requirement.details.protocol}
          maximum={registersWallets ? 0 : 1}
        />
      );
    case 'whitelisted_wallet':
      return (
        <WalletStep
          {...{ offer, optionId, ...common }}
          protocol="ethereum"
          maximum={requirement.details.max_wallets}
        />
      );
  }
}
