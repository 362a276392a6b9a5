// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Quote} from "../venue/IVenueManager.sol";

/// @title Tokenized swap
/// @notice Trades the venue's assets for whoever the operator signed for. The venue knows this contract alone; the
/// operator's signature ties a quote, which names no wallet, to the one wallet that may use it.
/// @dev Operator's signature, EIP-712 in the domain of `eip712Domain()` (EIP-5267):
/// `VerifyRequest(uint8 side,address inputToken,address outputToken,address sender,uint256 nonce,uint256 expiry,uint256
/// amount)`; `sender` is the caller, `nonce` its count of past swaps of the pair, `expiry` the quote's expiration.
/// Errors of the venue come through unchanged.
interface ITokenizedSwap {
    struct Config {
        address owner;
        address manager;
        address operator;
        address feeRecipient;
        uint256 feeBps;
        /// The EIP-712 domain name, 1 to 31 characters.
        string name;
    }

    /// @notice `user` swapped. On a buy it paid `inputAmount + fee` of `input`; on a sell it paid `inputAmount` and
    /// received `outputAmount`, from which `fee` of `output` was taken.
    event Swapped(
        address indexed user,
        address indexed input,
        address indexed output,
        uint256 attestationId,
        uint8 side,
        uint256 inputAmount,
        uint256 fee,
        uint256 outputAmount
    );

    /// @notice Stopped, for good.
    event Stopped();

    /// @notice The pause mask is now `flags`.
    event Paused(uint32 flags);

    /// @notice The fee is now `bps`, paid to `recipient`.
    event FeeChanged(uint256 bps, address indexed recipient);

    /// @notice Requests are now signed by `operator`.
    event OperatorChanged(address indexed operator);

    /// @notice The owner took `amount` of `token` out to `to`.
    event Withdrawn(address indexed token, address indexed to, uint256 amount);

    error IsStopped();

    /// @notice Paused by `flags`.
    error IsPaused(uint32 flags);

    /// @notice What is paid is a cent or more above what the quote costs.
    error InvalidAmount();

    /// @notice Less than the asked minimum would be received.
    error InsufficientAmount();

    /// @notice A token or the venue did not do what it said.
    error SwapFailed(address inputToken, address outputToken);

    /// @notice A zero address, or a token swapped into itself.
    error InvalidAddress();

    /// @notice A side is 0 (buy) or 1 (sell).
    error InvalidSide();

    /// @notice The call is not in the strict encoding: an offset, padding or a tail is another than the encoder's.
    error InvalidCalldata();

    /// @notice Executes a quote. Buy: pays `amount` of `token`, fee included. Sell: receives at least `amount` of
    /// `token`, fee deducted. The calldata must be in the ABI's strict encoding, to the byte.
    function swap(
        Quote calldata quote,
        bytes calldata venueSignature,
        address token,
        uint256 amount,
        bytes calldata operatorSignature
    ) external returns (uint256 output);

    /// @notice Splits `amount`: on a buy the gross that is paid, on a sell what the venue pays.
    function fee(uint8 side, uint256 amount) external view returns (uint256 fee_, uint256 net);

    /// @notice What `user` swapped of this pair; `count` is the nonce of its next request.
    function totals(address user, address input, address output)
        external
        view
        returns (uint256 inputSum, uint256 feeSum, uint256 outputSum, uint256 count);

    /// @notice 0 active, 1 paused (the flags say what: 2 all, 4 buys, 8 sells), 2 stopped. The venue's pauses are folded
    /// in.
    function status() external view returns (uint8 state, uint32 flags);

    /// @notice Likewise, with the venue's pauses of `asset`.
    function status(address asset) external view returns (uint8 state, uint32 flags);

    function stop() external;

    /// @notice Overwrites the pause mask: 2 pauses all, 4 buys, 8 sells. Owner.
    function pause(uint32 flags) external;

    function setFee(uint256 bps, address recipient) external;

    function setOperator(address operator) external;

    /// @notice Takes out what the venue gave back as surplus. Nothing of a user rests here between two calls. Owner.
    function withdraw(address token, address to, uint256 amount) external;

    function stopped() external view returns (bool);

    function paused() external view returns (uint32);

    function SWAP_LEVEL() external view returns (uint256);

    function manager() external view returns (address);

    function operator() external view returns (address);

    function feeBps() external view returns (uint256);

    function feeRecipient() external view returns (address);

    function domainSeparator() external view returns (bytes32);
}
