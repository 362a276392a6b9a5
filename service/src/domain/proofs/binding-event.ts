import type { NewEvent } from '../../platform/events/event.ts';
import type { BoundAddress } from './store.ts';

export function bindingEvent(
  type: 'wallet.bound' | 'wallet.unbound',
  offerId: string,
  partnerId: string,
  { id, option_id, user_id, protocol }: Pick<BoundAddress, 'id' | 'option_id' | 'user_id' | 'protocol'>,
): NewEvent {
  return {
    ...{ partnerId, userId: user_id, type },
    data: { object: 'option_address', id, offer_id: offerId, offer_option_id: option_id, protocol },
    related: { object: 'option_address', id, path: `/v1/offers/${offerId}/addresses` },
  };
}
