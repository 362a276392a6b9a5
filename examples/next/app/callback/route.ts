import { handlers } from '../../causeway';

export const { GET, POST } = handlers;
