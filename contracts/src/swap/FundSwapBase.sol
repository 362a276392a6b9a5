// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {Guarded} from "../Guarded.sol";
import {AllowList} from "./AllowList.sol";
import {Fee} from "./Fee.sol";
import {IFundSwap} from "./IFundSwap.sol";
import {IMarket} from "./IMarket.sol";

/// @notice See `IFundSwap`.
abstract contract FundSwapBase is IFundSwap, AllowList, Guarded {
    using SafeTransferLib for address;

    uint256 public immutable SWAP_LEVEL;
    address public immutable market;
    address public immutable outputToken;

    uint256 public feeBps;
    address public feeRecipient;

    constructor(Config memory config) AllowList(config.supplier) {
        _initializeOwner(config.owner);
        if (config.swapLevel == 0) revert InvalidAmount();
        SWAP_LEVEL = config.swapLevel;
        market = config.market;
        outputToken = IMarket(config.market).outputToken();
        _setFee(config.feeBps, config.feeRecipient);
    }

    /// @dev Reverts if swaps are stopped. Each generation has its own stop flags.
    function _checkRunning() internal view virtual;

    function preview(address inputToken, uint256 amount)
        public
        view
        returns (uint256 input, uint256 fee, uint256 output)
    {
        uint256 net;
        (fee, net) = Fee.inclusive(amount, feeBps);
        (input, output) = IMarket(market).quote(inputToken, net);
        if (input < net) fee = Fee.on(input, feeBps);
    }

    function swap(address token, uint256 amount, uint256 minOut) external nonReentrant returns (uint256 output) {
        _checkRunning();
        if (!authorized(msg.sender)) revert Unauthorized();
        uint256 input;
        uint256 fee;
        (input, fee, output) = preview(token, amount);
        if (input == 0 || output == 0) revert InvalidAmount();
        if (output < minOut) revert InsufficientAmount();

        _pull(token, input + fee);
        if (fee != 0) token.safeTransfer(feeRecipient, fee);
        _buy(token, input, output);
        outputToken.safeTransfer(msg.sender, output);
        emit Swapped(msg.sender, token, outputToken, input, fee, output);
    }

    function setFee(uint256 bps, address recipient) external onlyOwner {
        _setFee(bps, recipient);
    }

    function _setFee(uint256 bps, address recipient) private {
        if (recipient == address(0)) revert InvalidAddress();
        feeBps = Fee.check(bps);
        feeRecipient = recipient;
        emit FeeChanged(bps, recipient);
    }

    function _pull(address token, uint256 amount) private {
        uint256 before = token.balanceOf(address(this));
        token.safeTransferFrom(msg.sender, address(this), amount);
        if (token.balanceOf(address(this)) != before + amount) revert SwapFailed(token, outputToken);
    }

    function _buy(address token, uint256 input, uint256 output) private {
        uint256 inputBefore = token.balanceOf(address(this));
        uint256 outputBefore = outputToken.balanceOf(address(this));
        token.safeApproveWithRetry(market, input);
        IMarket(market).buy(token, input);
        bool paid = token.balanceOf(address(this)) + input == inputBefore;
        bool delivered = outputToken.balanceOf(address(this)) == outputBefore + output;
        if (!paid || !delivered) revert SwapFailed(token, outputToken);
    }
}
