// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "solady/auth/Ownable.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {IssuerToken} from "./IssuerToken.sol";

/// @dev A fund swap of another generation. `status()` returns `(flags, state)`. `authorized` asks the issuer's token,
/// so there is no permission to sign. `preview` accepts any token, but `swap` accepts only listed tokens.
contract OtherFundSwap is Ownable {
    using SafeTransferLib for address;

    event Swapped(
        address indexed user,
        address indexed inputToken,
        address indexed outputToken,
        uint256 inputAmount,
        uint256 fee,
        uint256 outputAmount
    );

    error IsStopped();
    error InvalidAddress();
    error InsufficientAmount();

    uint256 public constant SWAP_LEVEL = 2;
    uint256 private constant BPS = 10_000;
    uint256 private constant FEE_BPS = 50;
    /// @dev The price of one share unit, in funding units.
    uint256 private constant PRICE = 10;

    address public immutable outputToken;
    bool public stopped;
    uint32 public paused;
    /// @dev The state of the fund's market: 0 is active.
    uint8 public market;
    mapping(address token => bool) public inputTokens;

    constructor(address outputToken_, address inputToken) {
        _initializeOwner(msg.sender);
        outputToken = outputToken_;
        inputTokens[inputToken] = true;
    }

    function set(bool stopped_, uint32 paused_, uint8 market_) external onlyOwner {
        (stopped, paused, market) = (stopped_, paused_, market_);
    }

    function status() public view returns (uint32 flags, uint8 state) {
        flags = paused;
        if (stopped) return (flags, 2);
        if (market != 0) return (flags, market);
        return (flags, flags & SWAP_LEVEL == 0 ? 0 : 1);
    }

    function authorized(address wallet) public view returns (bool) {
        return IssuerToken(outputToken).isEligible(wallet);
    }

    function preview(address, uint256 amount) public pure returns (uint256 input, uint256 fee, uint256 output) {
        input = amount * BPS / (BPS + FEE_BPS);
        fee = amount - input;
        output = input / PRICE;
    }

    function swap(address token, uint256 amount, uint256 minOut) external returns (uint256 output) {
        (, uint8 state) = status();
        if (state != 0) revert IsStopped();
        if (!authorized(msg.sender)) revert Unauthorized();
        if (!inputTokens[token]) revert InvalidAddress();
        uint256 input;
        uint256 fee;
        (input, fee, output) = preview(token, amount);
        if (output < minOut) revert InsufficientAmount();
        token.safeTransferFrom(msg.sender, owner(), input + fee);
        outputToken.safeTransfer(msg.sender, output);
        emit Swapped(msg.sender, token, outputToken, input, fee, output);
    }
}
