; The steps of CRC-32C over 8, 4 and 1 bytes that source.CRC32C names: on Arm, each one instruction.

define linkonce_odr i64 @gradledger_crc32c_8(i64 %crc, i64 %data) alwaysinline {
  %old = trunc i64 %crc to i32
  %new = call i32 @llvm.aarch64.crc32cx(i32 %old, i64 %data)
  %wide = zext i32 %new to i64
  ret i64 %wide
}

define linkonce_odr i64 @gradledger_crc32c_4(i64 %crc, i32 %data) alwaysinline {
  %old = trunc i64 %crc to i32
  %new = call i32 @llvm.aarch64.crc32cw(i32 %old, i32 %data)
  %wide = zext i32 %new to i64
  ret i64 %wide
}

define linkonce_odr i64 @gradledger_crc32c_1(i64 %crc, i8 %data) alwaysinline {
  %old = trunc i64 %crc to i32
  %byte = zext i8 %data to i32
  %new = call i32 @llvm.aarch64.crc32cb(i32 %old, i32 %byte)
  %wide = zext i32 %new to i64
  ret i64 %wide
}
declare i32 @llvm.aarch64.crc32cx(i32, i64)
declare i32 @llvm.aarch64.crc32cw(i32, i32)
declare i32 @llvm.aarch64.crc32cb(i32, i32)
